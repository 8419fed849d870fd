// SPDX-License-Identifier: BSD-3-Clause
// Communicators whose memory would exceed SUMAC_SHM_BUDGET are left to the MPI, with right results.
// After others have been freed, the next communicator is served again.
#include <vector>

#include "exercise.h"

int main(int argc, char** argv) {
  using namespace test;
  start(argc, argv);
  constexpr int kWanted = 20;
  for (int round = 0; round < 3; ++round) {
    std::vector<MPI_Comm> comms(kWanted);
    int taken = 0, refused = 0;
    for (MPI_Comm& comm : comms) {
      step("round %d, communicator %d", round, taken + refused);
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      use(comm, round + taken);
      if (was_taken()) {
        ++taken;
      } else {
        CHECK_HANDED_DOWN("beyond SUMAC_SHM_BUDGET");
        ++refused;
      }
    }
    CHECK(taken > 0 && refused > 0, "%d taken, %d refused", taken, refused);
    for (MPI_Comm& comm : comms) use(comm, 7);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
  return finish();
}

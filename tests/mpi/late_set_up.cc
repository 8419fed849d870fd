// SPDX-License-Identifier: BSD-3-Clause
// Communicators of the same ranks in another order each time, so that other neighbours time their
// lines, and to every second one a rank comes late: no rank waits for ever, and all are served.
// late_set_up COMMUNICATORS
#include <unistd.h>

#include "exercise.h"

namespace {

using namespace test;

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const int total = argc > 1 ? std::atoi(argv[1]) : 100;
  for (int i = 0; i < total; ++i) {
    step("communicator %d of %d", i, total);
    MPI_Comm comm;
    // Other neighbours each time.
    MPI_Comm_split(MPI_COMM_WORLD, 0, (rank * 7 + i) % (ranks + 1), &comm);
    if (rank == i % ranks && i % 2 == 0) usleep(2000);
    use(comm, i);
    CHECK_TAKEN();
    use(comm, i + 1);
    MPI_Comm_free(&comm);
  }
  return finish();
}

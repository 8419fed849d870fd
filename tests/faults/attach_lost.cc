// SPDX-License-Identifier: BSD-3-Clause
// Cross-memory attach worked when the communicator was set up, and is refused from some call on.
// Results are right all the same.
//   attach_lost COLLECTIVE KIND RANK   RANK: who is refused it; -1: all
#include "../environment/refuse.h"
#include "calls.h"

int main(int argc, char** argv) {
  using namespace test;
  start(argc, argv);
  if (argc < 4) return 2;
  Call call{argv[1], argv[2], 300000};
  call.open();
  warm_up(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) call.run(i);
  if (rank == 0) std::printf("served by %s\n", path());
  native().Barrier(MPI_COMM_WORLD);
  const int who = std::atoi(argv[3]);
  if (who < 0 || who == rank) CHECK(refuse_attach() == 0, "a filter");
  for (int i = 3; i < 30; ++i) {
    call.run(i);
    CHECK(call.is_right(i), "call %d", i);
  }
  return finish();
}

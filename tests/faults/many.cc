// SPDX-License-Identifier: BSD-3-Clause
// Many communicators are alive at once; all work, and ranks agree on who serves them.
// many COMMUNICATORS: as many, or as the MPI has
#include <vector>

#include "lacks.h"

int main(int argc, char** argv) {
  using namespace test;
  start(argc, argv);
  const std::size_t wanted = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 100;
  warm_up(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> alive;
  std::size_t served = 0;
  while (alive.size() < wanted) {
    step("communicator %zu", alive.size());
    MPI_Comm comm = MPI_COMM_NULL;
    const bool made = MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS;
    if (on_any(!made)) break;  // MPICH has 2048
    alive.push_back(comm);
    const int seed = static_cast<int>(alive.size());
    use(comm, seed);
    served += was_taken();
    if (seed % 97 == 0) CHECK(on_all(was_taken()) || on_all(!was_taken()), "'%s'", path());
  }
  if (rank == 0) std::printf("%zu alive, %zu served\n", alive.size(), served);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < alive.size(); ++i) {
      step("round %d, communicator %zu", round, i);
      use(alive[i], static_cast<int>(i) + round);
    }
  }
  for (std::size_t i = 0; i < alive.size(); i += 2) MPI_Comm_free(&alive[i]);
  for (std::size_t i = 1; i < alive.size(); i += 2) use(alive[i], 3);
  for (std::size_t i = 1; i < alive.size(); i += 2) MPI_Comm_free(&alive[i]);
  CHECK(alive.size() >= wanted || alive.size() > 1000, "only %zu could be made", alive.size());
  return finish();
}

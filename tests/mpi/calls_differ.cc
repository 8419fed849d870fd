// SPDX-License-Identifier: BSD-3-Clause
// Erroneous collectives: calls that differ between ranks, so that the ranks wait for each other for
// ever. The job must end with a line that names who called what. Started by calls_differ_test.sh,
// which expects the job to fail.
// calls_differ KIND
#include <string_view>
#include <vector>

#include "check.h"

int main(int argc, char** argv) {
  using namespace test;
  start(argc, argv);
  const std::string_view kind = argc > 1 ? argv[1] : "";
  warm_up(MPI_COMM_WORLD);
  std::vector<int> in(100000), out(100000);
  const bool last = rank == ranks - 1;
  if (kind == "bcast-lines") MPI_Bcast(in.data(), last ? 180 : 20, MPI_INT, 0, MPI_COMM_WORLD);
  if (kind == "bcast-slots") MPI_Bcast(in.data(), last ? 100000 : 9000, MPI_INT, 0, MPI_COMM_WORLD);
  if (kind == "allreduce") {
    MPI_Allreduce(in.data(), out.data(), last ? 100000 : 9000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (kind == "collectives" && last) MPI_Barrier(MPI_COMM_WORLD);
  if (kind == "collectives" && !last)
    MPI_Bcast(in.data(), 50000, MPI_INT, ranks - 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return finish();
}

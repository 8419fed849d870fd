// SPDX-License-Identifier: BSD-3-Clause
// lone_rank [thread] | spawn N | run COMMAND
// Prints the size of its MPI_COMM_WORLD. With `spawn N`, spawns N more of itself, whose launcher
// variable gives another number of ranks. With `run COMMAND`, rank 0 runs a shell command between
// MPI_Init and MPI_Finalize.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  int provided = 0;
  if (mode == "told") setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  if (mode == "thread") {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  int rank = 0, size = 0, status = 0;
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  std::printf("%s of %d\n", parent == MPI_COMM_NULL ? "world" : "spawned", size);
  std::fflush(stdout);
  if (mode == "spawn") {
    MPI_Comm children = MPI_COMM_NULL;
    char told[] = "told";
    char* words[] = {told, nullptr};
    MPI_Comm_spawn(argv[0], words, std::atoi(argv[2]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&children);
  }
  if (mode == "run" && rank == 0) status = std::system(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
  MPI_Finalize();
  return status != 0;
}

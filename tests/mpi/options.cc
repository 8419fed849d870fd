// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 has other options than the rest: results must be right all the same, and all ranks must
// agree on what they use.
// options NAME=VALUE...   set on rank 0 only, before MPI starts
#include <string>

#include "exercise.h"

int main(int argc, char** argv) {
  using namespace test;
  const char* own_rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!own_rank) own_rank = std::getenv("PMI_RANK");
  for (int i = 1; i < argc && own_rank && std::atoi(own_rank) == 0; ++i) {
    const std::string setting = argv[i];
    const std::size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
  }
  start(argc, argv);
  for (int c = 0; c < 3; ++c) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 6; ++i) use(comm, i);
    MPI_Barrier(comm);
    CHECK_HANDED_DOWN("ranks have different SUMAC_ options");
    MPI_Comm_free(&comm);
  }
  return finish();
}

// SPDX-License-Identifier: BSD-3-Clause
// Calls each given collective once, after the communicator was set up.
// shapes COLLECTIVE:BYTES...       BYTES a multiple of 4, or of 4 a rank where ranks have parts
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

void call(const std::string& shape) {
  const std::size_t colon = shape.find(':');
  const std::string collective = shape.substr(0, colon);
  const std::vector<float> in(std::strtoul(shape.c_str() + colon + 1, nullptr, 10) / sizeof(float));
  std::vector<float> out(in);
  const int count = static_cast<int>(in.size());
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (collective == "allreduce") {
    MPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (collective == "reduce") {
    MPI_Reduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (collective == "bcast") {
    MPI_Bcast(out.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else if (collective == "reduce_scatter") {
    MPI_Reduce_scatter_block(in.data(), out.data(), count / ranks, MPI_FLOAT, MPI_SUM,
                             MPI_COMM_WORLD);
  } else if (collective == "allgather") {
    MPI_Allgather(in.data(), count / ranks, MPI_FLOAT, out.data(), count / ranks, MPI_FLOAT,
                  MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 2; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i < argc; ++i) call(argv[i]);
  MPI_Finalize();
  return 0;
}

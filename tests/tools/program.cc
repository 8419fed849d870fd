// SPDX-License-Identifier: BSD-3-Clause
// A known number of collectives, with their results checked. Rank 0 prints how often Sumac saw
// each, which is 0 without Sumac.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Calls of a collective in the text of sumac_stats(), served or not.
long seen(const std::string& text, const std::string& collective) {
  const std::string mark = "\"collective\": \"" + collective + "\"", key = "\"calls\": ";
  long calls = 0;
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos; ++at) {
    calls += std::atol(text.c_str() + text.find(key, at) + key.size());
  }
  return calls;
}

std::string statistics() {
  using Stats = std::size_t (*)(char*, std::size_t);
  const auto stats = reinterpret_cast<Stats>(dlsym(RTLD_DEFAULT, "sumac_stats"));
  if (!stats) return "";
  std::string text(stats(nullptr, 0) + 1, ' ');
  stats(text.data(), text.size());
  return text;
}

void require(bool right) {
  if (!right) MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 50; ++i) {
    int mine = rank + i, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    require(sum == ranks * (ranks - 1) / 2 + i * ranks);
    if (i % 2) MPI_Barrier(MPI_COMM_WORLD);
    if (i < 20) {
      int word = rank == i % ranks ? i : -1;
      MPI_Bcast(&word, 1, MPI_INT, i % ranks, MPI_COMM_WORLD);
      require(word == i);
    }
    if (i < 10) {
      MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
      require(rank != 0 || sum == ranks - 1 + i);
    }
  }
  const std::string text = statistics();
  if (rank == 0) {
    std::printf("sumac: Allreduce %ld Bcast %ld Reduce %ld Barrier %ld\n", seen(text, "allreduce"),
                seen(text, "bcast"), seen(text, "reduce"), seen(text, "barrier"));
    std::fflush(stdout);
  }
  MPI_Finalize();
}

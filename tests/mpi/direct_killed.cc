// SPDX-License-Identifier: BSD-3-Clause
// A rank dies, or stops for a while, in the midst of collectives whose ranks have mapped each
// other's buffers.
// direct_killed kill|stop
#include <string>
#include <vector>

#include "check.h"

namespace {

using namespace test;

void reduce(std::vector<int>& in, std::vector<int>& out, int number) {
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = number + static_cast<int>(i) + rank;
  MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  bool right = true;
  const int of_ranks = ranks * (ranks - 1) / 2;
  for (std::size_t i = 0; i < in.size(); ++i) {
    right &= out[i] == ranks * (number + static_cast<int>(i)) + of_ranks;
  }
  CHECK(right, "call %d, '%s'", number, path());
}

// Another process lets this one run again.
void stop_for_a_while() {
  const pid_t own = getpid();
  if (fork() == 0) {
    usleep(500000);
    kill(own, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const bool kills = argc > 1 && std::string(argv[1]) == "kill";
  std::vector<int> in(1 << 18), out(1 << 18);
  long direct = 0;
  for (int i = 0; i < 200; ++i) {
    step("call %d", i);
    if (i == 100 && rank == 0) {
      std::printf("direct: %ld\n", direct);
      std::fflush(stdout);
    }
    if (i == 120 && rank == ranks - 1 && kills) raise(SIGKILL);
    if (i == 120 && rank == ranks - 1) stop_for_a_while();
    reduce(in, out, i);
    direct += std::strcmp(path(), "direct") == 0;
  }
  return finish();
}

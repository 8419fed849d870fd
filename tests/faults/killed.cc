// SPDX-License-Identifier: BSD-3-Clause
// A rank is killed in the midst of collectives.
//   killed COLLECTIVE KIND COUNT VICTIM WHEN SECONDS [--multiple]
//     KIND     blocking | nonblocking | persistent
//     COUNT    integers that a rank gives to each other
//     VICTIM   the rank
//     WHEN     before | after | a number: so many instructions after the call has begun
//     SECONDS  within which the other ranks must be ended
// Before that, the victim says who it is, and how its last call was served.
#include <string>

#include "calls.h"
#include "die.h"

namespace {

using namespace test;

constexpr int kBefore = 12;  // calls in which nobody dies

void say_farewell() {
  char host[256] = "", line[512];
  gethostname(host, sizeof host - 1);
  const int used = std::snprintf(line, sizeof line, "victim: rank %d process %d on %s by %s\n",
                                 rank, getpid(), host, path());
  if (write(STDOUT_FILENO, line, static_cast<std::size_t>(used)) < 0) return;
}

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  while (true) pause();
}

void be_victim(Call& call, const std::string& when) {
  say_farewell();
  if (when == "before") die();
  if (when != "after") die_after(std::stol(when));
  call.run(kBefore);
  die();
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  if (argc < 7) return 2;
  Call call{argv[1], argv[2], std::stoi(argv[3])};
  call.open();
  warm_up(MPI_COMM_WORLD);
  for (int i = 0; i < kBefore; ++i) {
    step("call %d", i);
    if (!call.run(i)) {
      skip("this MPI has no such function");
      MPI_Finalize();
      return 77;
    }
  }
  // MPICH's launcher fails where a process ends while the job is still starting.
  usleep(300'000);
  native().Barrier(MPI_COMM_WORLD);
  if (rank == std::stoi(argv[4])) be_victim(call, argv[5]);
  // Ranks that need nobody, as the root of a broadcast, get on for a while.
  alarm(static_cast<unsigned>(std::stoi(argv[6])));
  for (int i = kBefore; i < 1000; ++i) {
    step("call %d without rank %s", i, argv[4]);
    call.run(i);
    if (i % 20 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  std::printf("FAILED: rank %d went on\n", rank);
  return 1;
}

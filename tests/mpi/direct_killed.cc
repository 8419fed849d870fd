// SPDX-License-Identifier: BSD-3-Clause
// A rank dies, or stops for a while, in the midst of collectives whose ranks have mapped each
// other's buffers.
// direct_killed kill|stop
#include <string>

#include "cases.h"

namespace {

using namespace test;

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
  Call call({.what = What::allreduce, .counts = {1 << 18}});
  long direct = 0;
  for (int i = 0; i < 200; ++i) {
    step("call %d", i);
    if (i == 100 && rank == 0) {
      std::printf("direct: %ld\n", direct);
      std::fflush(stdout);
    }
    if (i == 120 && rank == ranks - 1 && kills) raise(SIGKILL);
    if (i == 120 && rank == ranks - 1) stop_for_a_while();
    call.fill(static_cast<std::uint64_t>(i));
    call.begin();
    call.check();
    direct += std::strcmp(path(), "direct") == 0;
  }
  return finish();
}

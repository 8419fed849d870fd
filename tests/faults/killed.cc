// SPDX-License-Identifier: BSD-3-Clause
// A rank is killed in the midst of collectives.
//   killed COLLECTIVE KIND COUNT VICTIM WHEN SECONDS [--multiple]
//     KIND     blocking | nonblocking | persistent
//     COUNT    integers that a rank gives to each other
//     VICTIM   the rank
//     WHEN     before | after | a number: so many instructions after the call has begun
//     SECONDS  within which the other ranks must be ended
// Before that, the victim says who it is, and how its last call was served.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "calls.h"

namespace {

using namespace test;

// A rank ends itself, by SIGKILL, after so many of its own instructions: at a place that the
// program and the library under it know nothing of, the same place each time as long as the
// process does not wait.
#if defined(__x86_64__)

volatile long instructions_left = 0;

void count_one(int) {
  instructions_left = instructions_left - 1;
  if (instructions_left <= 0) kill(getpid(), SIGKILL);
}

// The processor traps after each instruction of this thread from here on.
void die_after(long instructions) {
  instructions_left = instructions;
  struct sigaction action = {};
  action.sa_handler = count_one;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTRAP, &action, nullptr);
  asm volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::
                   : "memory", "cc");
}

#else

// A nanosecond for each, where there is no trap.
void die_after(long instructions) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  itimerspec when = {};
  when.it_value = {instructions / 1'000'000'000, instructions % 1'000'000'000};
  timer_settime(timer, 0, &when, nullptr);
}

#endif

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
  call.fill(kBefore);
  if (when != "after") die_after(std::stol(when));
  call.run_filled();
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

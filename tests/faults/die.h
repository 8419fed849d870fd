// SPDX-License-Identifier: BSD-3-Clause
// Ends the calling process, by SIGKILL, after so many of its own instructions: at a place that the
// program and the library under it know nothing of, the same place each time as long as the process
// does not wait.
#pragma once

#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace test {

#if defined(__x86_64__)

inline volatile long instructions_left = 0;

inline void count_one(int) {
  instructions_left = instructions_left - 1;
  if (instructions_left <= 0) kill(getpid(), SIGKILL);
}

// The processor traps after each instruction of this thread from here on.
inline void die_after(long instructions) {
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
inline void die_after(long instructions) {
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

}  // namespace test

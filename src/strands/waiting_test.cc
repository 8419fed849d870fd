// SPDX-License-Identifier: BSD-3-Clause
#include "strands/waiting.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sumac {
namespace {

long times_slept() {
  rusage use;
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_nvcsw;
}

// 1 if a process with a scheduling group of its own sleeps while it waits, else 0.
int slept_alone(const WaitPolicy& policy, int steps, bool may_doze) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    Waiting waiting(policy);
    const long before = times_slept();
    for (int i = 0; i < steps; ++i) waiting.step(may_doze);
    _exit(times_slept() - before > 0 ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Its yields return at once, or the wait is a long one: it sleeps either way.
TEST(Waiting, SleepsWhereYieldsReachNobody) {
  EXPECT_EQ(slept_alone(WaitPolicy{.spins = 0}, 1000, true), 1);
}

TEST(Waiting, DoesNotSleepInItsFirstPolls) {
  EXPECT_EQ(slept_alone(WaitPolicy{.spins = 0}, 4, true), 0);
  EXPECT_EQ(slept_alone(WaitPolicy{.spins = 1000}, 200, true), 0);
}

// Messages arrive only while this rank polls for them.
TEST(Waiting, DoesNotDozeWhereItMayNot) {
  EXPECT_EQ(slept_alone(WaitPolicy{.spins = 0}, 60, false), 0);
}

}  // namespace
}  // namespace sumac

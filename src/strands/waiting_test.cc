// SPDX-License-Identifier: BSD-3-Clause
#include "strands/waiting.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace {

enum class Yields { kKernel, kReachNobody, kReachAnother };
std::atomic<Yields> yields = Yields::kKernel;

}  // namespace

// In place of the C library's: what a yield does is up to the test.
extern "C" int sched_yield() noexcept {
  if (yields == Yields::kKernel) return static_cast<int>(syscall(SYS_sched_yield));
  if (yields == Yields::kReachAnother) {
    for (const auto end = sumac::clock_ns() + 5'000; sumac::clock_ns() < end;) {
    }
  }
  return 0;
}

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

// Waits until it is a long one, and then how many of the next 200 short waits sleep.
int naps_after_a_long_wait(Yields do_what) {
  constexpr WaitPolicy kCrowded{.spins = 0};
  int naps = 0;
  std::thread thread([&] {
    yields = do_what;
    Waiting long_wait(kCrowded);
    for (const auto end = clock_ns() + 2'000'000; clock_ns() < end;) long_wait.step();
    for (int wait = 0; wait < 200; ++wait) {
      const long before = times_slept();
      Waiting waiting(kCrowded);
      for (int i = 0; i < 8; ++i) waiting.step();
      naps += times_slept() > before;
    }
    yields = Yields::kKernel;
  });
  thread.join();
  return naps;
}

// A thread that has learnt that its yields are futile naps, but not for ever: it tries again.
TEST(Waiting, NapsForSomeWaitsOnceYieldsWereFutile) {
  const int naps = naps_after_a_long_wait(Yields::kReachNobody);
  EXPECT_GE(naps, 10);
  EXPECT_LE(naps, 100);
}

// The kernel may take the processor away now and then, which looks like sleep.
TEST(Waiting, DoesNotNapWhereYieldsReachOthers) {
  EXPECT_LE(naps_after_a_long_wait(Yields::kReachAnother), 5);
}

// Messages arrive only while this rank polls for them.
TEST(Waiting, DoesNotDozeWhereItMayNot) {
  EXPECT_EQ(slept_alone(WaitPolicy{.spins = 0}, 60, false), 0);
}

void run_on_one_processor() {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  sched_setaffinity(0, sizeof one, &one);
}

// A thread on the same processor is what the wait is for: it has to get there long before the
// spinning thread's time slice ends, in which there is room for 100000 polls and more.
TEST(Waiting, GivesTheProcessorToAThreadThatIsReadyWhileItSpins) {
  constexpr int kRounds = 200;
  constexpr long kMostPolls = 20000;
  int quick = 0;
  std::thread waits([&] {
    run_on_one_processor();  // and so does the other, which inherits it
    std::atomic<int> asked = 0, done = 0;
    std::thread works([&] {
      for (int round = 1; round <= kRounds; ++round) {
        while (asked.load() < round) sched_yield();
        done.store(round);
      }
    });
    const WaitPolicy policy{.spins = 1U << 30};
    for (int round = 1; round <= kRounds; ++round) {
      asked.store(round);
      long polls = 0;
      for (Waiting waiting(policy); done.load() < round; ++polls) waiting.step();
      quick += polls < kMostPolls;
    }
    works.join();
  });
  waits.join();
  EXPECT_GE(quick, kRounds * 9 / 10);
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The tests check the rules of docs/reliability.md on a kernel whose clock, yields and sleeps are
// the test's.
#include "strands/waiting.h"

#include <gtest/gtest.h>

#include <thread>

namespace sumac {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

// Time passes when the clock is read, and in yields and sleeps.
struct Fake {
  std::uint64_t now = kSecond;
  std::uint64_t look_takes = 100;
  std::uint64_t yield_takes = 300;
  bool crowded = false;
  int yields = 0, sleeps = 0, driven = 0;
  std::uint64_t yielded_ns = 0, slept_ns = 0, longest_sleep = 0;
} fake;

constexpr WaitKernel kFakeKernel{
    .now_ns = [] { return fake.now += fake.look_takes; },
    .yield =
        [] {
          ++fake.yields;
          fake.yielded_ns += fake.yield_takes;
          fake.now += fake.yield_takes;
        },
    .sleep =
        [](std::uint64_t ns) {
          ++fake.sleeps;
          fake.slept_ns += ns;
          fake.longest_sleep = std::max(fake.longest_sleep, ns);
          fake.now += ns;
        },
    .crowded = [](std::uint64_t) { return fake.crowded; },
};

WaitPolicy policy_of(bool own_processor) {
  WaitPolicy policy;
  policy.own_processor = own_processor;
  policy.spins = own_processor ? 256 : 0;
  policy.drive = [](void*) { ++fake.driven; };
  policy.kernel = &kFakeKernel;
  return policy;
}

void wait_for(const WaitPolicy& policy, std::uint64_t ns, bool may_sleep = true) {
  Waiting waiting(policy);
  for (const std::uint64_t end = fake.now + ns; fake.now < end;) waiting.step(may_sleep);
}

// Each test has a thread of its own: a thread remembers what its yields did.
class WaitRules : public ::testing::Test {
 protected:
  template <class Test>
  void run(const Fake& kernel, Test test) {
    fake = kernel;
    std::thread(test).join();
  }
};

// The rank keeps its processor whatever else runs there: a stranger that gets it would keep it for
// a whole time slice.
TEST_F(WaitRules, RankWithAProcessorOfItsOwnNeverYieldsNorSleeps) {
  run({.look_takes = 5'000, .yield_takes = 4 * kMillisecond}, [] {
    wait_for(policy_of(true), 3 * kSecond);
    for (int i = 0; i < 100; ++i) wait_for(policy_of(true), 10 * kMicrosecond);
    EXPECT_EQ(fake.yields, 0);
    EXPECT_EQ(fake.sleeps, 0);
  });
}

TEST_F(WaitRules, RankWithAProcessorOfItsOwnDrivesTheMpiOften) {
  run({}, [] {
    const WaitPolicy policy = policy_of(true);
    Waiting waiting(policy);
    for (int i = 0; i < 256; ++i) waiting.step();
    EXPECT_EQ(fake.driven, 0) << "the wait is short";
    for (int i = 0; i < 1700; ++i) waiting.step();
    EXPECT_GE(fake.driven, 100);
  });
}

TEST_F(WaitRules, SpinsAreDrivenToo) {
  run({.crowded = true}, [] {
    WaitPolicy policy = policy_of(true);
    for (const bool own_processor : {true, false}) {
      policy.own_processor = own_processor;
      policy.spins = 1000;
      fake.driven = 0;
      Waiting waiting(policy);
      for (int i = 0; i < 1000; ++i) waiting.step();
      EXPECT_EQ(fake.driven, 3);
      EXPECT_EQ(fake.yields, 0);
    }
  });
}

TEST_F(WaitRules, YieldsToThreadsOfItsProcess) {
  run({.yield_takes = 2 * kMicrosecond, .crowded = true}, [] {
    wait_for(policy_of(true), kMillisecond);
    EXPECT_GE(fake.yields, 50);
    EXPECT_EQ(fake.sleeps, 0);
  });
}

TEST_F(WaitRules, YieldsToAThreadThatComputesTakeAtMostAFifthOfAWait) {
  run({.look_takes = 5'000, .yield_takes = 4 * kMillisecond, .crowded = true}, [] {
    wait_for(policy_of(true), kSecond);
    EXPECT_GE(fake.yields, 20);
    EXPECT_LE(fake.yielded_ns, kSecond / 5 + fake.yield_takes);
    fake.yields = 0;
    for (int i = 0; i < 1000; ++i) wait_for(policy_of(true), kMillisecond);
    EXPECT_LE(fake.yields, 1) << "a wait is shorter than what a yield takes";
  });
}

TEST_F(WaitRules, RanksThatShareProcessorsYieldAtEachPoll) {
  run({.yield_takes = 2 * kMicrosecond}, [] {
    const WaitPolicy policy = policy_of(false);
    Waiting waiting(policy);
    for (int i = 0; i < 50; ++i) waiting.step();
    EXPECT_EQ(fake.yields, 50);
    EXPECT_EQ(fake.sleeps, 0);
    EXPECT_GE(fake.driven, 3);
  });
}

TEST_F(WaitRules, RanksThatShareProcessorsSleepInLongWaits) {
  run({.yield_takes = 2 * kMicrosecond}, [] {
    wait_for(policy_of(false), kSecond);
    EXPECT_GE(fake.slept_ns, kSecond / 2);
    EXPECT_LE(fake.longest_sleep, kMillisecond);
    EXPECT_GE(fake.driven, fake.sleeps);
  });
}

// Messages arrive only while this rank polls for them.
TEST_F(WaitRules, NobodySleepsWhoMustPoll) {
  run({.yield_takes = 300}, [] {
    wait_for(policy_of(false), 100 * kMillisecond, false);
    EXPECT_EQ(fake.sleeps, 0);
    EXPECT_GE(fake.driven, fake.yields / 16);
  });
}

// Returns how many of 200 short waits sleep after a long one.
int naps_after_a_long_wait() {
  const WaitPolicy policy = policy_of(false);
  wait_for(policy, 2 * kMillisecond);
  int naps = 0;
  for (int wait = 0; wait < 200; ++wait) {
    const int before = fake.sleeps;
    Waiting waiting(policy);
    for (int i = 0; i < 8; ++i) waiting.step();
    naps += fake.sleeps > before;
  }
  return naps;
}

// A thread that has learnt that its yields are futile naps, but not for ever: it tries again.
TEST_F(WaitRules, NapsForSomeWaitsOnceYieldsWereFutile) {
  run({.yield_takes = 300}, [] {
    const int naps = naps_after_a_long_wait();
    EXPECT_GE(naps, 10);
    EXPECT_LE(naps, 100);
  });
}

TEST_F(WaitRules, DoesNotNapWhereYieldsReachOthers) {
  run({.yield_takes = 5 * kMicrosecond}, [] { EXPECT_EQ(naps_after_a_long_wait(), 0); });
}

}  // namespace
}  // namespace sumac

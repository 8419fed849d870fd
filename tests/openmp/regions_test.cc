// SPDX-License-Identifier: BSD-3-Clause
// Large reductions with a real OpenMP run-time library, called inside and outside of regions, from
// tasks and from other threads. This test is compiled with -fopenmp; the library under test is not.
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <cfenv>
#include <thread>

#include "tests/openmp/folds.h"

namespace sumac::testing {
namespace {

class Regions : public ::testing::Test {
 protected:
  void SetUp() override { allow_threads(0); }
};

// True if OMP_NUM_THREADS and the processors allow several threads.
bool several() { return allowed() > 1; }

TEST_F(Regions, SizesAroundTheThresholdAndOffsets) {
  for (const std::size_t bytes : sizes()) {
    for (const std::size_t offset : {0, 4, 60, 64}) expect_right(bytes / 4, offset);
  }
}

TEST_F(Regions, OutsideARegionIsOpened) {
  const Counted counted;
  expect_right(kLarge, 0);
  EXPECT_EQ(counted.by(ThreadUse::region), several() ? 1u : 0u);
  EXPECT_EQ(counted.by(ThreadUse::one_thread), several() ? 0u : 1u);
}

TEST_F(Regions, OutsideNoneIsOpenedByDefault) {
  constexpr bool kOwnRegions = false;
  allow_threads(0, kOwnRegions);
  const Counted counted;
  EXPECT_EQ(threads_of(kLarge), 1u);
#pragma omp parallel num_threads(1)
  EXPECT_EQ(threads_of(kLarge), 1u);
#pragma omp parallel if (false)
  EXPECT_EQ(threads_of(kLarge), 1u);
  EXPECT_EQ(counted.by(ThreadUse::outside), 3u);
#pragma omp parallel
#pragma omp single
  expect_right(kLarge, 0);
  EXPECT_EQ(counted.by(ThreadUse::tasks), several() ? 1u : 0u);
  EXPECT_EQ(counted.by(ThreadUse::outside), omp_get_max_threads() > 1 ? 3u : 4u);
  EXPECT_EQ(counted.by(ThreadUse::region), 0u);
}

TEST_F(Regions, BelowTheThresholdNothingIsAsked) {
  const Counted counted;
  expect_right(kLeast / 4 - 1, 0);
  EXPECT_EQ(counted.all(), 0u);
}

TEST_F(Regions, MasterAndBarrier) {
  for (int n = 0; n < kTimes; ++n) {
    const Counted counted;
#pragma omp parallel
    {
#pragma omp master
      expect_right(kLarge, 4);
#pragma omp barrier
    }
    EXPECT_EQ(counted.by(ThreadUse::tasks), several() ? 1u : 0u);
    EXPECT_EQ(counted.by(ThreadUse::region), 0u);
  }
}

TEST_F(Regions, Single) {
  for (int n = 0; n < kTimes; ++n) {
    const Counted counted;
#pragma omp parallel
#pragma omp single
    {
      expect_right(kLarge, 0);
      expect_right(kLarge + 1, 8);
    }
    EXPECT_EQ(counted.by(ThreadUse::tasks), several() ? 2u : 0u);
  }
}

TEST_F(Regions, AllThreadsAtATime) {
  for (int n = 0; n < kTimes; ++n) {
#pragma omp parallel
    expect_right(kLarge, 0);
  }
}

TEST_F(Regions, FromWithinTasks) {
  for (int n = 0; n < kTimes; ++n) {
#pragma omp parallel
#pragma omp single
    for (int t = 0; t < 4; ++t) {
#pragma omp task
      expect_right(kLarge + static_cast<std::size_t>(t), 0);
    }
  }
}

TEST_F(Regions, FromATaskThatIsNotDeferred) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp task final(1)
    expect_right(kLarge, 0);
#pragma omp task if (0)
    expect_right(kLarge, 0);
  }
}

TEST_F(Regions, Nested) {
  omp_set_max_active_levels(2);
  for (int n = 0; n < kTimes; ++n) {
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
#pragma omp master
      expect_right(kLarge, 0);
#pragma omp barrier
    }
  }
  omp_set_max_active_levels(1);
}

// A cancelled task may be discarded. Whether anything is cancelled depends on OMP_CANCELLATION.
TEST_F(Regions, ACancelledGroupOfTasks) {
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
#pragma omp task
    expect_right(kLarge, 0);
  }
  expect_right(kLarge, 0);
}

TEST_F(Regions, FromOtherThreads) {
  for (int n = 0; n < 10; ++n) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 3; ++i) expect_right(kLarge, 0);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// All threads must use the rounding mode of the caller, and their own again afterwards.
TEST_F(Regions, RoundedAsTheCallerRounds) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    for (int n = 0; n < 5; ++n) {
      std::atomic<int> others{0};
#pragma omp parallel
      {
#pragma omp master
        {
          std::fesetround(mode);
          expect_right(kMost, 0);
        }
#pragma omp barrier
#pragma omp master
        std::fesetround(FE_TONEAREST);
#pragma omp barrier
        if (std::fegetround() != FE_TONEAREST) ++others;
      }
      EXPECT_EQ(others, 0);
      std::fesetround(mode);
      expect_right(kMost, 0);
      std::fesetround(FE_TONEAREST);
    }
  }
}

TEST_F(Regions, NeverMoreThreadsThanAllowed) {
  for (int n = 0; n < kTimes; ++n) {
    EXPECT_LE(threads_of(kLarge), static_cast<std::size_t>(allowed()));
#pragma omp parallel
#pragma omp single
    EXPECT_LE(threads_of(kLarge), static_cast<std::size_t>(allowed()));
  }
  allow_threads(2);
  for (int n = 0; n < kTimes; ++n) EXPECT_LE(threads_of(kLarge), 2u);
  allow_threads(1);
  EXPECT_EQ(threads_of(kLarge), 1u);
}

TEST_F(Regions, OtherThreadsDoComeToHelp) {
  if (!several()) GTEST_SKIP() << "one thread or processor";
  std::size_t most_outside = 0, most_inside = 0;
  for (int n = 0; n < 1000 && (most_outside < 2 || most_inside < 2); ++n) {
    most_outside = std::max(most_outside, threads_of(kLarge));
#pragma omp parallel
#pragma omp single
    most_inside = std::max(most_inside, threads_of(kLarge));
  }
  EXPECT_GE(most_outside, 2u);
  EXPECT_GE(most_inside, 2u);
}

// The application's tasks wait for what its thread does after the reduction. So this thread must
// not run them during the call, and the reduction must not wait for them.
TEST_F(Regions, TheApplicationsTasksAreLeftAlone) {
  for (int n = 0; n < kTimes; ++n) {
    std::atomic<bool> reduced{false};
    std::atomic<int> ran{0}, ran_here{0};
#pragma omp parallel
#pragma omp single
    {
      const pid_t caller = gettid();
      std::atomic<bool> in_call{true};
      for (int t = 0; t < 8; ++t) {
#pragma omp task shared(reduced, ran, ran_here, in_call) if (omp_get_num_threads() > 1)
        {
          if (in_call && gettid() == caller) ++ran_here;
          while (omp_get_num_threads() > 1 && !reduced && gettid() != caller) sched_yield();
          ++ran;
        }
      }
      const int before = ran_here;
      expect_right(kLarge, 0);
      EXPECT_EQ(ran_here, before);
      in_call = false;
      reduced = true;
#pragma omp taskwait
    }
    EXPECT_EQ(ran, 8);
  }
}

TEST_F(Regions, TheApplicationsTasksGoOn) {
  for (int n = 0; n < kTimes; ++n) {
    std::atomic<int> ran{0};
#pragma omp parallel
#pragma omp single
    {
      for (int t = 0; t < 50; ++t) {
#pragma omp task shared(ran)
        ++ran;
        if (t % 10 == 0) expect_right(kLarge, 0);
      }
    }
    EXPECT_EQ(ran, 50);
  }
}

}  // namespace
}  // namespace sumac::testing

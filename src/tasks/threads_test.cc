// SPDX-License-Identifier: BSD-3-Clause
// The tests check how many threads are used, and by which means, with stand-ins for OpenMP run-time
// libraries. The tests of real ones are in tests/openmp.
#include "tasks/threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace sumac {
namespace {

// Tells the stand-in how to behave, and notes what was asked of it.
struct Fake {
  bool in_parallel = false;
  int max_threads = 4, num_threads = 4, num_procs = 4;
  enum { now, in_threads, never } when = in_threads;  // when tasks run

  std::vector<int> priorities;
  std::vector<unsigned> flags;
  std::vector<std::thread> tasks;
} fake;
std::atomic<unsigned> asked_threads{0};

void fake_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
  asked_threads = threads;
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(body, data);
  body(data);
  for (std::thread& other : others) other.join();
}

void fake_task(void (*body)(void*), void* data, void (*)(void*, void*), long size, long, bool,
               unsigned flags, void**, int priority, void*) {
  fake.priorities.push_back(priority);
  fake.flags.push_back(flags);
  std::vector<std::byte> copy(static_cast<std::byte*>(data), static_cast<std::byte*>(data) + size);
  if (fake.when == Fake::now) body(copy.data());
  if (fake.when == Fake::in_threads) {
    fake.tasks.emplace_back([body, copy]() mutable { body(copy.data()); });
  }
}

constexpr OpenMp kOutside = {
    [] { return 0; }, [] { return 64; }, [] { return 1; }, [] { return 64; },
    nullptr,          nullptr,           nullptr};
constexpr OpenMp kFake = {[] { return fake.in_parallel ? 1 : 0; },
                          [] { return fake.max_threads; },
                          [] { return fake.num_threads; },
                          [] { return fake.num_procs; },
                          fake_parallel,
                          fake_task,
                          nullptr};

// Notes which pieces are done, and by which threads.
struct Done {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::vector<int> times;

  explicit Done(std::size_t pieces) : times(pieces, 0) {}
  PieceWork work() {
    return {[](void* data, std::size_t piece) {
              Done& done = *static_cast<Done*>(data);
              ++done.times[piece];
              const std::lock_guard<std::mutex> hold(done.mutex);
              done.threads.insert(std::this_thread::get_id());
            },
            this, times.size(),
            [](const std::atomic<std::size_t>& done, std::size_t target) {
              while (done.load(std::memory_order_acquire) != target) sched_yield();
            }};
  }
};

class ThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fake = Fake();
    asked_threads = 0;
    set_threads({.min_bytes = 1, .own_regions = true});
    const ProcessorRoom room{.processors = 4, .known = known_};
    set_processor_room(room);
  }
  void TearDown() override {
    for (std::thread& task : fake.tasks) task.join();
    fake.tasks.clear();
  }
  void set_room(ProcessorRoom room) {
    room.known = ++known_;
    set_processor_room(room);
  }
  // Does 20 pieces, each once, by at most `count` threads.
  void expect(ThreadUse use, int count, std::span<const OpenMp> openmps) {
    Done done(20);
    {
      const UseThreads may(true);
      const Threads threads(openmps);
      EXPECT_EQ(threads.use(), use);
      EXPECT_EQ(threads.count(), count);
      threads.run(done.work());
    }
    EXPECT_EQ(done.times, std::vector<int>(20, 1));
    EXPECT_LE(done.threads.size(), static_cast<std::size_t>(count));
  }
  void expect(ThreadUse use, int count) { expect(use, count, {&kFake, 1}); }

  static inline int known_ = 1;
};

TEST_F(ThreadsTest, NoneWithoutAnOpenMp) { expect(ThreadUse::no_openmp, 1, {}); }

TEST_F(ThreadsTest, OneUnlessTheCallSaysThatMoreMayBeUsed) {
  const Threads threads({&kFake, 1});
  EXPECT_EQ(threads.use(), ThreadUse::elsewhere);
  EXPECT_EQ(threads.count(), 1);
  {
    const UseThreads outer(true);
    EXPECT_TRUE(UseThreads::may());
    const UseThreads inner(false);
    EXPECT_FALSE(UseThreads::may());
    std::thread([] { EXPECT_FALSE(UseThreads::may()); }).join();
  }
  EXPECT_FALSE(UseThreads::may());
}

TEST_F(ThreadsTest, ARegionOutsideOfOne) {
  expect(ThreadUse::region, 4);
  EXPECT_EQ(asked_threads, 4u);
  EXPECT_TRUE(fake.priorities.empty());
}

TEST_F(ThreadsTest, NoRegionUnlessAllowed) {
  set_threads({.min_bytes = 1});
  expect(ThreadUse::outside, 1);
  set_threads({.min_bytes = 1, .most = 4});
  expect(ThreadUse::outside, 1);
  expect(ThreadUse::no_openmp, 1, {});
  EXPECT_EQ(asked_threads, 0u);
  fake.in_parallel = true;
  expect(ThreadUse::tasks, 4);
}

TEST_F(ThreadsTest, TasksInsideOfARegion) {
  fake.in_parallel = true;
  fake.num_threads = 3;
  for (const auto when : {Fake::in_threads, Fake::now, Fake::never}) {
    fake.when = when;
    fake.priorities.clear();
    expect(ThreadUse::tasks, 3);
    EXPECT_EQ(fake.priorities, std::vector<int>(2, 0));
  }
  EXPECT_EQ(asked_threads, 0u);
}

TEST_F(ThreadsTest, TasksOfTheOpenMpWhoseRegionItIs) {
  fake.in_parallel = true;
  const OpenMp both[] = {kOutside, kFake};
  expect(ThreadUse::tasks, 4, both);
}

TEST_F(ThreadsTest, PriorityIsPassedOnWithTheFlagThatMakesItCount) {
  fake.in_parallel = true;
  set_threads({.min_bytes = 1, .priority = 7});
  expect(ThreadUse::tasks, 4);
  EXPECT_EQ(fake.priorities, std::vector<int>(3, 7));
  EXPECT_EQ(fake.flags, std::vector<unsigned>(3, 16));
}

// If a library knows of no second thread, there is no region, and it is not asked further.
TEST_F(ThreadsTest, AnUnusedLibraryIsNotWoken) {
  static int threads;
  static bool asked;
  OpenMp unused = kFake;
  unused.all_threads = [](const void*) { return threads; };
  unused.in_parallel = [] {
    asked = true;
    return 1;
  };
  set_threads({.min_bytes = 1});
  for (threads = 0; threads < 2; ++threads) expect(ThreadUse::outside, 1, {&unused, 1});
  EXPECT_FALSE(asked);
  expect(ThreadUse::tasks, 4, {&unused, 1});
  EXPECT_TRUE(asked);
}

struct Limit {
  ProcessorRoom room;
  int most, max_threads, num_procs, count;
};

TEST_F(ThreadsTest, NeverMoreThanProcessorsThreadsAndTheQuota) {
  const Limit limits[] = {
      {{.processors = 8}, 0, 64, 1, 8},
      {{.processors = 8}, 0, 3, 8, 3},
      {{.processors = 8}, 0, 1, 8, 1},
      {{.processors = 1}, 0, 64, 1, 1},
      {{.processors = 1}, 0, 64, 6, 6},  // the calling thread is bound, the process is not
      {{.processors = 8, .share = 0.5}, 0, 64, 8, 4},
      {{.processors = 2, .share = 0.5}, 0, 64, 2, 1},
      {{.processors = 8, .share = 0.01}, 0, 64, 8, 1},
      {{.processors = 3, .share = 1.0 / 3 + 1.0 / 3 + 1.0 / 3}, 0, 64, 3, 3},
      {{.processors = 8, .quota = 4}, 0, 64, 8, 4},
      {{.processors = 8, .quota = 4, .ranks = 2}, 0, 64, 8, 2},
      {{.processors = 8, .quota = 1, .ranks = 2}, 0, 64, 8, 1},
      {{.processors = 8}, 5, 64, 8, 5},
      {{.processors = 8, .share = 0.25}, 5, 64, 8, 5},  // `most` asks for 5
      {{.processors = 4}, 5, 64, 4, 4},
      {{.processors = 8, .quota = 3}, 5, 64, 8, 3},
      {{.processors = 8}, 5, 2, 8, 2},
      {{.processors = 8}, 1, 64, 8, 1},
  };
  for (const Limit& limit : limits) {
    SCOPED_TRACE(&limit - limits);
    set_threads({.min_bytes = 1, .most = limit.most, .own_regions = true});
    set_room(limit.room);
    fake.max_threads = limit.max_threads;
    fake.num_procs = limit.num_procs;
    expect(limit.count > 1 ? ThreadUse::region : ThreadUse::one_thread, limit.count);
  }
}

TEST_F(ThreadsTest, WhatMoreRanksToldCounts) {
  set_room({.processors = 8});
  set_processor_room({.processors = 2, .known = known_ - 1});
  EXPECT_EQ(processor_room().processors, 8);
  set_processor_room({.processors = 3, .known = known_});
  EXPECT_EQ(processor_room().processors, 3);
}

TEST_F(ThreadsTest, AllTogetherKeepNoMoreThanThereAre) {
  const UseThreads may(true);
  fake.max_threads = 3;
  const Threads first({&kFake, 1});
  EXPECT_EQ(first.count(), 3);
  {
    fake.max_threads = 4;
    const Threads second({&kFake, 1});
    EXPECT_EQ(second.count(), 1);
    EXPECT_EQ(second.use(), ThreadUse::busy);
  }
  set_room({.processors = 6});
  const Threads third({&kFake, 1});
  EXPECT_EQ(third.count(), 3);
}

TEST_F(ThreadsTest, OffAndOneAreNeverWorthIt) {
  EXPECT_TRUE(worth_threads(1));
  set_threads({.min_bytes = 4096});
  EXPECT_FALSE(worth_threads(4095));
  EXPECT_TRUE(worth_threads(4096));
  set_threads({.min_bytes = 1, .most = 1});
  EXPECT_FALSE(worth_threads(SIZE_MAX - 1));
}

TEST_F(ThreadsTest, SeveralCallersAtATime) {
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([] {
      for (int n = 0; n < 200; ++n) {
        Done done(17);
        const UseThreads may(true);
        const OpenMp one = kFake;
        Threads({&one, 1}).run(done.work());
        EXPECT_EQ(done.times, std::vector<int>(17, 1));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "strands/lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace sumac {
namespace {

TEST(Lock, ItsOwnerTriesInVain) {
  Lock lock;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    lock.lock();
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
  }
}

TEST(Lock, OneAtATime) {
  constexpr int kThreads = 5, kTurns = 20000;
  Lock lock;
  long plain = 0, tried = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTurns; ++i) {
        const std::lock_guard<Lock> hold(lock);
        ++plain;
      }
      for (int i = 0; i < kTurns; ++i) {
        while (!lock.try_lock()) std::this_thread::yield();
        ++tried;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, kThreads * kTurns);
  EXPECT_EQ(tried, kThreads * kTurns);
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "machine/crowd.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace sumac {
namespace {

constexpr int kAll = 1000;

// These threads sleep until the end, or compute. The name of each looks like a state.
class OtherThreads {
 public:
  OtherThreads(int number, bool compute) {
    for (int i = 0; i < number; ++i) {
      threads_.emplace_back([this, compute] {
        prctl(PR_SET_NAME, "a) R b) S");
        ++started_;
        while (!ends_) {
          if (!compute) usleep(100'000);
        }
      });
    }
    while (started_ < number) usleep(100);
    if (!compute) usleep(20'000);
  }
  ~OtherThreads() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  OtherThreads(const OtherThreads&) = delete;
  OtherThreads& operator=(const OtherThreads&) = delete;

 private:
  std::vector<std::thread> threads_;
  std::atomic<int> started_{0};
  std::atomic<bool> ends_{false};
};

bool is_crowded_soon(bool wanted) {
  for (const auto end = clock_ns() + 10'000'000'000; clock_ns() < end;) {
    if (process_is_crowded(clock_ns()) == wanted) return true;
  }
  return false;
}

TEST(Crowd, CountsThreadsThatRunOrWantTo) {
  EXPECT_EQ(count_runnable_threads(kAll), 1);
  const OtherThreads sleep(5, false);
  EXPECT_EQ(count_runnable_threads(kAll), 1);
  const OtherThreads compute(3, true);
  EXPECT_EQ(count_runnable_threads(kAll), 4);
  EXPECT_EQ(count_runnable_threads(2), 2);
}

// There are more entries than are read at once.
TEST(Crowd, CountsAmongManyThreads) {
  const OtherThreads sleep(70, false), compute(3, true);
  EXPECT_EQ(count_runnable_threads(kAll), 4);
}

TEST(Crowd, IsThereWhereThreadsOutnumberProcessors) {
  set_own_processors(2);
  EXPECT_TRUE(is_crowded_soon(false));
  {
    const OtherThreads compute(2, true);
    EXPECT_TRUE(is_crowded_soon(true));
    set_own_processors(3);
    EXPECT_TRUE(is_crowded_soon(false));
  }
  set_own_processors(1);
  EXPECT_TRUE(is_crowded_soon(false));
}

TEST(Crowd, KeepsErrno) {
  set_own_processors(1);
  errno = 12345;
  EXPECT_TRUE(is_crowded_soon(false));
  EXPECT_EQ(errno, 12345);
}

}  // namespace
}  // namespace sumac

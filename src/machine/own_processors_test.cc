// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "base/process_stat.h"
#include "machine/own_processors.h"

namespace sumac {
namespace {

constexpr int kAll = 1000;

// These threads sleep until the end, or compute. The name of each looks like a state.
class OtherThreads {
 public:
  OtherThreads(int number, bool compute) : ids_(static_cast<std::size_t>(number)) {
    for (std::atomic<int>& id : ids_) {
      threads_.emplace_back([this, compute, &id] {
        prctl(PR_SET_NAME, "a) R b) S");
        id = gettid();
        if (!compute) ends_.wait(false);
        while (!ends_) {
        }
      });
    }
    for (const std::atomic<int>& id : ids_) {
      while (id == 0 || (!compute && !is_asleep(id))) usleep(100);
    }
  }
  ~OtherThreads() {
    ends_ = true;
    ends_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  OtherThreads(const OtherThreads&) = delete;
  OtherThreads& operator=(const OtherThreads&) = delete;

 private:
  static bool is_asleep(int id) {
    sumac_process_stat found;
    return sumac_read_process_stat("/proc/self/task", id, &found) && found.state == 'S';
  }

  std::vector<std::atomic<int>> ids_;
  std::vector<std::thread> threads_;
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

CpuMask cpus(int first, int count) {
  CpuMask mask;
  for (int cpu = first; cpu < first + count; ++cpu) mask.words[cpu / 64] |= 1ull << cpu % 64;
  return mask;
}

struct Case {
  const char* what;
  CpuMask own;
  std::vector<CpuMask> others;
  int unknown;
  double processors;  // how many of its own ones are left to it
};

TEST(Share, EachProcessorIsDividedEvenly) {
  const Case cases[] = {
      {"alone", cpus(0, 8), {}, 0, 8},
      {"bound ranks", cpus(0, 4), {cpus(4, 4), cpus(8, 4)}, 0, 4},
      {"bound ranks, others of the job not known", cpus(0, 4), {cpus(4, 4)}, 6, 4},
      {"nothing is bound", cpus(0, 8), {cpus(0, 8)}, 0, 4},
      {"nothing is bound, more ranks than processors", cpus(0, 2),
       std::vector<CpuMask>(3, cpus(0, 2)), 0, 0.5},
      {"nothing is bound, others of the job not known", cpus(0, 8), {cpus(0, 8)}, 2, 2},
      {"before anything is known", cpus(0, 8), {}, 3, 2},
      {"a part is shared", cpus(0, 4), {cpus(2, 4)}, 0, 3},
      {"beyond one word", cpus(60, 8), {cpus(64, 8), cpus(64, 2)}, 0, 4 + 2.0 / 3 + 1},
      {"no processor is known", CpuMask(), {cpus(0, 8)}, 0, 0},
  };
  for (const Case& c : cases) {
    const double share = share_of_processors(c.own, c.others, c.unknown);
    if (c.own.count() == 0) {
      EXPECT_EQ(share, 1) << c.what;
    } else {
      EXPECT_NEAR(share * c.own.count(), c.processors, 1e-9) << c.what;
    }
  }
}

}  // namespace
}  // namespace sumac

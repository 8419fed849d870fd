// SPDX-License-Identifier: BSD-3-Clause
// Makes a large reduction through in_pieces() and compares it with the kernel's own result bit for
// bit.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "algorithms/in_pieces.h"
#include "kernels/reduce.h"
#include "observe/stats.h"

namespace sumac::testing {

inline constexpr std::size_t kLeast = 64 << 10;  // size in bytes from which threads are used
inline constexpr std::size_t kLarge = 300'000;   // elements of four bytes: nine pieces
inline constexpr std::size_t kMost = 500'000;
inline constexpr int kTimes = 20;

inline int processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// The number of processors that the library is given: at least four, unless this thread is bound to
// one. Threads may share processors in these tests.
inline int room() { return processors() == 1 ? 1 : std::max(4, processors()); }

// The number of threads that a reduction may use. If OpenMP has bound this thread, OpenMP has more
// processors than this thread.
inline int allowed() {
  const char* const threads = std::getenv("OMP_NUM_THREADS");
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  const int most = std::getenv("OMP_PROC_BIND") ? static_cast<int>(online) : room();
  return std::min(most, threads ? std::atoi(threads) : processors());
}

// Has the effect of SUMAC_THREADS=most and of SUMAC_OWN_REGIONS.
inline void allow_threads(int most, bool own_regions = true) {
  set_threads({.min_bytes = kLeast, .most = most, .own_regions = own_regions});
  set_processor_room({.processors = room(), .known = 1});
}

// The change of the counters since this object was made.
class Counted {
 public:
  std::uint64_t by(ThreadUse use) const {
    const int u = static_cast<int>(use);
    return process_stats().threads[u] - before_.threads[u];
  }
  std::uint64_t all() const {
    std::uint64_t sum = 0;
    for (int u = 0; u < kNumThreadUses; ++u) sum += by(static_cast<ThreadUse>(u));
    return sum;
  }

 private:
  Stats before_ = process_stats();
};

// Numbers of very different magnitudes: another order of additions would give other bits.
inline std::vector<float> make_numbers(std::uint32_t seed) {
  std::vector<float> values(kMost);
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 8) * (seed & 1 ? 1e-6f : 1e3f);
  }
  return values;
}
inline const std::vector<float>& numbers(int which) {
  static const std::vector<float> all[] = {make_numbers(1), make_numbers(2), make_numbers(3)};
  return all[which];
}

// Checks dst = a + b + dst at an offset of `offset` bytes into a cache line. The bytes around dst
// must not change.
inline void expect_right(std::size_t count, std::size_t offset) {
  static const ReduceFn kernel = find_reduce(Op::sum, DType::f32);
  ASSERT_LE(count, kMost);
  const std::vector<float>&a = numbers(0), &b = numbers(1), &c = numbers(2);
  std::vector<float> expected(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<float> buffer(count + 64, -1);
  const void* const sources[] = {a.data(), b.data(), expected.data()};
  kernel(expected.data(), sources, 3, count);
  const std::size_t to_line = -reinterpret_cast<std::uintptr_t>(buffer.data()) % 64;
  float* const dst = buffer.data() + (to_line + offset) / 4 % 32;
  std::copy_n(c.begin(), count, dst);
  {
    const UseThreads may(true);
    in_pieces(dst, count, sizeof(float), [&](std::size_t first, std::size_t n) {
      const void* const from[] = {a.data() + first, b.data() + first, dst + first};
      kernel(dst + first, from, 3, n);
    });
  }
  EXPECT_EQ(std::memcmp(dst, expected.data(), count * sizeof(float)), 0)
      << count << " elements at " << offset;
  const auto end = buffer.begin() + (dst - buffer.data());
  EXPECT_EQ(std::count(buffer.begin(), end, -1.0f), end - buffer.begin());
  EXPECT_EQ(std::count(end + static_cast<std::ptrdiff_t>(count), buffer.end(), -1.0f),
            buffer.end() - end - static_cast<std::ptrdiff_t>(count));
}

// Sizes around the threshold and around the size of a piece, and larger ones.
inline std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (const std::size_t near : {kLeast, 2 * kLeast, 4 * kLeast, 8 * kLeast, 30 * kLeast}) {
    for (const std::size_t more : {0, 4, 64, 68}) {
      all.push_back(near - more);
      all.push_back(near + more);
    }
  }
  return all;
}

// How many threads took part in a reduction of this many elements. Each piece is slow, so that one
// thread cannot do all before the others wake.
inline std::size_t threads_of(std::size_t count) {
  std::vector<float> values(count);
  std::mutex mutex;
  std::set<pid_t> threads;
  const UseThreads may(true);
  in_pieces(values.data(), count, sizeof(float), [&](std::size_t, std::size_t) {
    usleep(100);
    const std::lock_guard<std::mutex> hold(mutex);
    threads.insert(gettid());
  });
  return threads.size();
}

}  // namespace sumac::testing

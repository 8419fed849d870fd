// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/pair_map.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sumac {
namespace {

// MPIs have handles like these: numbers that follow one another (MPICH), or addresses of objects of
// one size (Open MPI).
struct Handles {
  std::uintptr_t type, next_type, op, next_op;
};
constexpr Handles kHandles[] = {{0x4c000101, 1, 0x58000001, 1},
                                {0x4c000405, 0x101, 0x58000003, 1},
                                {0x7f3a5c201000, 0x180, 0x7f3a5c2f0040, 0xc0}};
constexpr int kTypes = 40, kOps = 12;

// The test has few homes, so that many pairs share one, and as many homes as are in use.
template <int kHomeBits>
void fill_and_find() {
  for (const Handles& handles : kHandles) {
    static auto& map = *new PairMap<int, kHomeBits>;
    const auto type = [&](int t) { return handles.type + handles.next_type * t; };
    const auto op = [&](int o) { return handles.op + handles.next_op * o; };
    for (int t = 0; t < kTypes; ++t) {
      for (int o = 0; o < kOps; ++o) {
        ASSERT_EQ(map.find(type(t), op(o)), nullptr);
        map.insert(type(t), op(o), t * kOps + o);
      }
    }
    for (int t = 0; t < kTypes; ++t) {
      for (int o = 0; o < kOps; ++o) {
        const int* found = map.find(type(t), op(o));
        ASSERT_NE(found, nullptr) << t << " " << o;
        EXPECT_EQ(*found, t * kOps + o);
      }
    }
    EXPECT_EQ(map.find(type(kTypes), op(0)), nullptr);
    EXPECT_EQ(map.find(op(0), type(0)), nullptr);
    map.clear();
    EXPECT_EQ(map.find(type(0), op(0)), nullptr);
  }
}

TEST(PairMap, FindsEveryPair) {
  fill_and_find<2>();
  fill_and_find<8>();
}

TEST(PairMap, ThreadsAddAndFind) {
  for (int round = 0; round < 50; ++round) {
    static auto& map = *new PairMap<int, 3>;
    const auto add_and_find = [](int thread) {
      for (int i = 0; i < 500; ++i) {
        const auto first = static_cast<std::uintptr_t>(i * 7 % 97 + 1);
        const auto second = static_cast<std::uintptr_t>(i % 13 + thread % 2);
        const int expected = static_cast<int>(first * 1000 + second);
        if (!map.find(first, second)) map.insert(first, second, expected);
        ASSERT_EQ(*map.find(first, second), expected);
      }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(add_and_find, t);
    for (std::thread& thread : threads) thread.join();
    map.clear();
  }
}

}  // namespace
}  // namespace sumac

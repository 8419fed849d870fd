// SPDX-License-Identifier: BSD-3-Clause
//
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "interpose/mpi/handle_tables.h"

namespace sumac {
namespace {

using Random = std::mt19937_64;
using MakeHandle = std::function<std::uintptr_t(Random&)>;

struct Checked {
  HandleTable<int> table;
  std::unordered_map<std::uintptr_t, int*> map;
  std::vector<std::uintptr_t> held;
  std::vector<int> values = std::vector<int>(1 << 16);

  void insert(std::uintptr_t handle) {
    int* value = &values[map.size() * 7 % values.size()];
    if (!map.emplace(handle, value).second) return;
    table.insert(handle, value);
    held.push_back(handle);
  }
  void erase(std::size_t i) {
    table.erase(held[i]);
    map.erase(held[i]);
    held[i] = held.back();
    held.pop_back();
  }
  void expect_found(std::uintptr_t handle) const {
    const auto place = map.find(handle);
    ASSERT_EQ(table.find(handle), place == map.end() ? nullptr : place->second) << handle;
  }
};

// Lets the table grow to `most` handles and shrink again, several times.
void run(const MakeHandle& make, std::size_t most, unsigned seed) {
  Random random(seed);
  Checked checked;
  for (int round = 0; round < 6 && !::testing::Test::HasFailure(); ++round) {
    const bool grows = round % 2 == 0;
    for (std::size_t i = 0; i < 4 * most; ++i) {
      const bool inserts = random() % 8 < (grows ? 6u : 2u);
      if (inserts && checked.held.size() < most) checked.insert(make(random));
      if (!inserts && !checked.held.empty()) checked.erase(random() % checked.held.size());
      checked.expect_found(make(random));
      if (!checked.held.empty()) checked.expect_found(checked.held[random() % checked.held.size()]);
    }
    for (const std::uintptr_t handle : checked.held) checked.expect_found(handle);
  }
  while (!checked.held.empty()) checked.erase(checked.held.size() - 1);
  for (int i = 0; i < 1000; ++i) checked.expect_found(make(random));
}

TEST(HandleTable, AnyHandles) {
  for (unsigned seed = 0; seed < 20; ++seed)
    run([](Random& r) { return r(); }, 40 << seed % 8, seed);
}

TEST(HandleTable, Pointers) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    run([](Random& r) { return 0x55d0'0000'1000u + r() % 3000 * 0x1c0; }, 60 << seed % 6, seed);
  }
}

// An MPI may number its requests like this, 0 among them.
TEST(HandleTable, Numbers) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    run([](Random& r) { return r() % 200; }, 10 << seed % 5, seed);
  }
}

// The table looks at the upper half of handle * k. These handles are multiples of k's inverse,
// which choose that half: all begin within a few places of the end, and go on at the beginning.
TEST(HandleTable, HandlesWithOneHome) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ull;
  std::uint64_t inverse = kFactor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
  ASSERT_EQ(kFactor * inverse, 1u);
  for (const unsigned homes : {1u, 2u, 5u}) {
    const auto make = [=](Random& r) {
      const std::uint64_t home = 0xffff'ffffu - r() % homes;
      return static_cast<std::uintptr_t>((home << 32 | r() % 400) * inverse);
    };
    for (unsigned seed = 0; seed < 10; ++seed) run(make, 30 << seed % 4, seed);
  }
}

// The map has few homes, so that many handles share one.
using Map = HandleMap<std::uint64_t, 3>;

// Maps give no memory back, and live as long as the process.
Map& new_map() {
  static auto& maps = *new std::deque<Map>;
  return maps.emplace_back();
}

TEST(HandleMap, AgainstAMap) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t handles = 1 + seed * 17;
    Map& map = new_map();
    std::unordered_map<std::uintptr_t, std::uint64_t> expected;
    for (int i = 0; i < 4000; ++i) {
      const std::uintptr_t handle = 1 + random() % handles * 0x40;
      if (random() % 3 == 0) {
        map.erase(handle);
        expected.erase(handle);
      } else {
        const std::uint64_t value = random();
        const std::uint64_t* kept = map.insert(handle, value);
        ASSERT_NE(kept, nullptr);
        EXPECT_EQ(*kept, expected.emplace(handle, value).first->second);
      }
      const std::uintptr_t other = 1 + random() % handles * 0x40;
      const std::uint64_t* found = map.find(other);
      ASSERT_EQ(found != nullptr, expected.count(other) == 1) << "seed " << seed;
      if (found) {
        EXPECT_EQ(*found, expected[other]);
      }
    }
    map.clear();
    for (std::uint64_t h = 0; h < handles; ++h) EXPECT_EQ(map.find(1 + h * 0x40), nullptr);
  }
}

// A reader sees a handle with its value or not at all, whatever other handles do meanwhile.
TEST(HandleMap, ReadWithoutALock) {
  Map& map = new_map();
  constexpr std::uintptr_t kKept = 7;
  map.insert(kKept, kKept);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int round = 0; round < 2000; ++round) {
      for (std::uintptr_t handle = 100; handle < 130; ++handle) map.insert(handle, handle);
      for (std::uintptr_t handle = 100; handle < 120; ++handle) map.erase(handle);
    }
    done = true;
  });
  std::uintptr_t handle = 120;
  while (!done) {
    const std::uint64_t* kept = map.find(kKept);
    ASSERT_TRUE(kept && *kept == kKept);
    handle = handle == 129 ? 120 : handle + 1;
    const std::uint64_t* other = map.find(handle);
    if (other) {
      ASSERT_EQ(*other, handle);
    }
  }
  writer.join();
}

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

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/handle_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <unordered_map>

namespace sumac {
namespace {

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

}  // namespace
}  // namespace sumac

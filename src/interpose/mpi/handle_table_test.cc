// SPDX-License-Identifier: BSD-3-Clause
// The tests compare the table with a map, with handles that crowd together: pointers of one
// allocator, small numbers, and handles that have the same home.
#include "interpose/mpi/handle_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <unordered_map>

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

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The counts of communicators, which are used again after their end, add up to all that was
// counted.
#include "observe/stats.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <utility>

namespace sumac {
namespace {

using Expected = std::map<const PathCount*, std::pair<std::uint64_t, std::uint64_t>>;

// Counts a call of a random path, and expects it where `sum` has that path.
void count(CallCounts& counts, const CallCounts& sum, std::mt19937& random, Expected& expected) {
  const CollectiveInfo& info = kCollectives[random() % kNumCollectives];
  const int c = static_cast<int>(info.collective),
            reason = static_cast<int>(random() % kNumReasons);
  const int algorithm = static_cast<int>(random() % kNumAlgorithms);
  const std::uint64_t bytes = random() % 1000;
  const PathCount* place = nullptr;
  switch (random() % 3) {
    case 0:
      counts.add_taken(static_cast<Algorithm>(algorithm), bytes);
      place = &sum.taken[algorithm];
      break;
    case 1:
      counts.add_local(info.collective, bytes);
      place = &sum.local[c];
      break;
    default:
      counts.add_handed(info.collective, static_cast<Reason>(reason), bytes);
      place = &sum.handed[c][reason];
  }
  ++expected[place].first;
  expected[place].second += bytes;
}

template <class Visit>
void for_each_count(const CallCounts& counts, Visit visit) {
  for (const PathCount& each : counts.taken) visit(each);
  for (const PathCount& each : counts.local) visit(each);
  for (const auto& of_collective : counts.handed) {
    for (const PathCount& each : of_collective) visit(each);
  }
}

TEST(CallCounts, OfManyCommunicatorsAddUp) {
  std::mt19937 random(1);
  CallCounts sum, communicator;
  Expected expected;
  for (int round = 0; round < 1000; ++round) {
    for (unsigned calls = random() % 6; calls > 0; --calls) {
      count(communicator, sum, random, expected);
    }
    sum.merge(communicator);
    communicator.clear();
    const CallCounts none;
    ASSERT_EQ(std::memcmp(&communicator, &none, sizeof none), 0) << "round " << round;
  }
  for_each_count(sum, [&](const PathCount& each) {
    const auto& [calls, bytes] = expected[&each];
    EXPECT_EQ(each.calls, calls);
    EXPECT_EQ(each.bytes, bytes);
  });
}

}  // namespace
}  // namespace sumac

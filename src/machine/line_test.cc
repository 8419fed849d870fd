// SPDX-License-Identifier: BSD-3-Clause
// The tests send a line between two threads, and check how long a trip is taken to be and what
// happens if the other side does not come.
#include "machine/line.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/measured.h"

namespace sumac {
namespace {

constexpr std::uint64_t kFirst = ~std::uint64_t{0} - 3;  // numbers wrap
constexpr std::uint64_t kNever = ~std::uint64_t{0};

// By this clock, batch number b of the trips takes b times kFirstBatchNs.
thread_local int readings = 0;
constexpr double kFirstBatchNs = 1000;
std::uint64_t slower_and_slower() {
  const int batch = readings / 2 + 1;
  return readings++ % 2 == 0 ? 0 : static_cast<std::uint64_t>(kFirstBatchNs * batch);
}

struct Pair {
  LineCell there, back;
};

TEST(Line, TheLeastBatchCounts) {
  for (const std::uint64_t old : {std::uint64_t{0}, kFirst - 1, kFirst + 1000}) {
    Pair cells;
    cells.there.value = cells.back.value = old;
    double ns = 0;
    std::thread sender([&] {
      readings = 0;
      ns = send_line(cells.there, cells.back, kFirst, {kNever, slower_and_slower});
    });
    EXPECT_TRUE(return_line(cells.there, cells.back, kFirst, kNever));
    sender.join();
    EXPECT_EQ(ns, kFirstBatchNs / kLineTrips);
    EXPECT_EQ(cells.back.value, kFirst + kLineBatches * kLineTrips - 1);
  }
}

TEST(Line, NoSideWaitsForever) {
  Pair cells;
  cells.there.value = cells.back.value = 0;
  EXPECT_LT(send_line(cells.there, cells.back, kFirst, {clock_ns(), now_ns}), 0);
  cells.there.value = 0;
  EXPECT_FALSE(return_line(cells.there, cells.back, kFirst, clock_ns()));
}

TEST(Line, DistancesFollowFromTimes) {
  EXPECT_EQ(distance_of(50), Distance::sibling);
  EXPECT_EQ(distance_of(104), Distance::near);
  EXPECT_EQ(distance_of(430), Distance::far);
  EXPECT_EQ(distance_of(1e9), Distance::far);
  for (double ns = 1; ns < 1e4; ns *= 1.1) EXPECT_LE(distance_of(ns), distance_of(ns * 1.1));
  EXPECT_EQ(farther(Distance::near, Distance::far), Distance::far);
  EXPECT_EQ(farther(Distance::near, Distance::sibling), Distance::near);
  EXPECT_EQ(farther(Distance::unknown, Distance::far), Distance::unknown);
  EXPECT_EQ(farther(Distance::far, Distance::unknown), Distance::unknown);
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "planner/plan.h"

#include <gtest/gtest.h>

#include "transport/shm/layout.h"

namespace sumac {
namespace {

constexpr Collective kAll[] = {Collective::allreduce, Collective::reduce, Collective::bcast,
                               Collective::barrier};

Capabilities capabilities(int ranks, bool single_copy, bool oversubscribed) {
  Capabilities c;
  c.ranks = ranks;
  c.single_copy = single_copy;
  c.oversubscribed = oversubscribed;
  return c;
}

// Whatever the communicator, every call has an algorithm of its collective that can run.
TEST(PlanTable, AlwaysChoosesWhatCanRun) {
  for (int ranks : {2, 3, 4, 5, 16, 17, 64, 1000}) {
    for (int bits = 0; bits < 4; ++bits) {
      const PlanTable plans(capabilities(ranks, bits & 1, bits & 2), "");
      for (Collective collective : kAll) {
        for (std::size_t bytes = 1; bytes < SIZE_MAX / 4; bytes = bytes * 3 / 2 + 1) {
          const Algorithm a = plans.choose(collective, bytes);
          ASSERT_NE(a, Algorithm::native) << name_of(collective) << " " << bytes;
          EXPECT_EQ(info_of(a).collective, collective);
          EXPECT_TRUE(info_of(a).needs != Needs::lines || bytes <= kLinesData);
          EXPECT_TRUE(info_of(a).needs != Needs::single_copy || (bits & 1));
        }
      }
    }
  }
}

TEST(PlanTable, SharedProcessorsNeverWaitForASingleCopyBroadcast) {
  const PlanTable plans(capabilities(4, true, true), "");
  EXPECT_EQ(plans.choose(Collective::bcast, 1 << 20), Algorithm::bcast_slots);
}

TEST(PlanTable, ForcedWhereEligible) {
  const char* forced = "allreduce:split_slots;bcast:single_copy;reduce:flat_lines";
  const PlanTable with(capabilities(2, true, false), forced);
  EXPECT_EQ(with.choose(Collective::allreduce, 8), Algorithm::allreduce_split_slots);
  EXPECT_EQ(with.choose(Collective::bcast, 8), Algorithm::bcast_single_copy);
  EXPECT_EQ(with.choose(Collective::reduce, kLinesData), Algorithm::reduce_flat_lines);
  EXPECT_NE(with.choose(Collective::reduce, kLinesData + 1), Algorithm::reduce_flat_lines);
  const PlanTable without(capabilities(2, false, false), forced);
  EXPECT_EQ(without.choose(Collective::bcast, 1 << 20), Algorithm::bcast_slots);
}

TEST(Forced, IsChecked) {
  EXPECT_EQ(check_forced(""), nullptr);
  EXPECT_EQ(check_forced(nullptr), nullptr);
  EXPECT_EQ(check_forced("allreduce:flat_lines;barrier:flat"), nullptr);
  EXPECT_NE(check_forced("allreduce"), nullptr);
  EXPECT_NE(check_forced("allreduce:ring"), nullptr);
  EXPECT_NE(check_forced("bcast:flat_lines"), nullptr);
}

}  // namespace
}  // namespace sumac

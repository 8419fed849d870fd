// SPDX-License-Identifier: BSD-3-Clause
#include "observe/learnt.h"

#include <gtest/gtest.h>

#include "observe/report.h"

namespace sumac {
namespace {

Learnt bcast(std::uint64_t bytes, Algorithm now) {
  Learnt learnt;
  learnt.collective = Collective::bcast;
  learnt.bytes = bytes;
  learnt.ranks = 4;
  learnt.first = Algorithm::bcast_slots;
  learnt.now = now;
  learnt.first_ns = 1000;
  learnt.now_ns = 750;
  return learnt;
}

TEST(Learnt, TheLastOutcomeOfAClassCounts) {
  LearntTable table;
  table.note(bcast(64, Algorithm::native));
  table.note(bcast(128, Algorithm::bcast_lines));
  table.note(bcast(64, Algorithm::bcast_lines));
  ASSERT_EQ(table.count, 2);
  EXPECT_EQ(table.all[0].now, Algorithm::bcast_lines);
  // A class that stays with the rules has no entry.
  table.note(bcast(64, Algorithm::bcast_slots));
  table.note(bcast(256, Algorithm::bcast_slots));
  ASSERT_EQ(table.count, 1);
  EXPECT_EQ(table.all[0].bytes, 128u);
  Learnt larger = bcast(128, Algorithm::native), own = larger;
  larger.ranks = 5;
  own.kind = 1;
  table.note(larger);
  table.note(own);
  EXPECT_EQ(table.count, 3);
}

TEST(Learnt, WhatDoesNotFitIsLeftOut) {
  LearntTable table;
  for (unsigned k = 0; k < 40; ++k) table.note(bcast(k, Algorithm::native));
  ASSERT_EQ(table.count, LearntTable::kMost);
  table.note(bcast(5, Algorithm::bcast_slots));
  table.note(bcast(99, Algorithm::native));
  ASSERT_EQ(table.count, LearntTable::kMost);
  EXPECT_EQ(table.all[LearntTable::kMost - 1].bytes, 99u);
}

TEST(Learnt, RanksThatKnowTheSameAreMerged) {
  LearntTable table, other;
  table.note(bcast(64, Algorithm::native));
  other.note(bcast(64, Algorithm::bcast_lines));
  other.note(bcast(8, Algorithm::native));
  table.merge(other);
  ASSERT_EQ(table.count, 2);
  EXPECT_EQ(table.all[0].now, Algorithm::native);
  EXPECT_EQ(table.all[1].bytes, 8u);
}

TEST(Learnt, TheGainIsTheTimeSaved) {
  Learnt learnt = bcast(64, Algorithm::native);
  EXPECT_EQ(learnt.gain_percent(), 25);
  learnt.first_ns = 0;  // no call by the first candidate had a time
  EXPECT_EQ(learnt.gain_percent(), 0);
}

bool has(const std::string& text, const char* what) { return text.find(what) != text.npos; }

TEST(Learnt, ReportsShowIt) {
  std::vector<RankReport> reports(2);
  const std::string nothing = rank_table(reports[0], 0, 2, kEndByFinalize);
  EXPECT_FALSE(has(nothing, "learnt"));
  EXPECT_TRUE(has(nothing, "no collective was called") && !has(nothing, "per call")) << nothing;
  EXPECT_TRUE(has(counts_json(reports[0]), "\"learnt\": []"));
  reports[0].learnt.note(bcast(64, Algorithm::native));
  reports[1].learnt.note(bcast(64, Algorithm::native));
  reports[1].learnt.note(bcast(128, Algorithm::bcast_lines));
  const char *native = "25 %  bcast from 64 bytes, 4 ranks: the MPI's own, not slots",
             *lines = "25 %  bcast from 128 bytes, 4 ranks: lines, not slots";
  const std::string of_first = rank_table(reports[0], 0, 2, kEndByFinalize),
                    of_all = ranks_table(reports);
  EXPECT_TRUE(has(of_first, native)) << of_first;
  EXPECT_FALSE(has(of_first, lines));
  EXPECT_TRUE(has(of_all, native) && has(of_all, lines)) << of_all;
  EXPECT_TRUE(has(counts_json(reports[0]),
                  "{\"collective\": \"bcast\", \"bytes\": 64, \"ranks\": 4, \"algorithm\": "
                  "\"native\", \"first\": \"slots\", \"gain_percent\": 25}"))
      << counts_json(reports[0]);
}

}  // namespace
}  // namespace sumac

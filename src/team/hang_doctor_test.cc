// SPDX-License-Identifier: BSD-3-Clause
// The tests check the page as others read it, which rank reports, and what the report says.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/cpu.h"
#include "base/versioned.h"
#include "team/hang_doctor_page.h"

namespace sumac {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kNow = 1000 * kSecond, kLimit = 60 * kSecond;

SeenRank rank_number(int number) {
  SeenRank rank;
  rank.status.job_rank = number;
  rank.status.pid = 500 + number;
  rank.status.job_ranks = 4;
  rank.state = 'S';
  return rank;
}

SeenRank waiting(int number, std::uint64_t seconds, const char* missing) {
  SeenRank rank = rank_number(number);
  RankStatus& status = rank.status;
  status.since_ns = kNow - seconds * kSecond;
  status.fresh_ns = kNow - kSecond / 2;
  status.nth = 7;
  status.bytes = 8;
  status.ranks = 4;
  std::strcpy(status.collective, "allreduce");
  std::strcpy(status.algorithm, "flat_lines");
  std::strcpy(status.communicator, "MPI_COMM_WORLD");
  std::strcpy(status.missing, missing);
  return rank;
}

int reporters(const std::vector<SeenRank>& ranks) {
  int found = 0;
  for (const SeenRank& rank : ranks) {
    const bool late = rank.waits(kNow) && kNow - rank.status.since_ns >= kLimit;
    found += late && is_to_report(ranks, rank.status, kNow, kLimit);
  }
  return found;
}

TEST(HangDoctor, OneOfThoseThatWaitLongReports) {
  std::vector<SeenRank> ranks{rank_number(0), waiting(1, 61, "0"), waiting(2, 61, "0"),
                              waiting(3, 60, "0")};
  EXPECT_EQ(reporters(ranks), 1);
  EXPECT_TRUE(is_to_report(ranks, ranks[1].status, kNow, kLimit));
  ranks[1].state = 'T';  // it cannot report itself
  EXPECT_TRUE(is_to_report(ranks, ranks[2].status, kNow, kLimit));
  EXPECT_FALSE(is_to_report(ranks, ranks[3].status, kNow, kLimit));
}

TEST(HangDoctor, ARankBeforeThatHasNotWaitedLongDoesNotReport) {
  const std::vector<SeenRank> ranks{waiting(0, 20, "3"), waiting(1, 60, "3")};
  EXPECT_TRUE(is_to_report(ranks, ranks[1].status, kNow, kLimit));
}

TEST(HangDoctor, NobodyReportsWhileOneWaitsThatHas) {
  std::vector<SeenRank> ranks{waiting(0, 60, "3"), waiting(2, 62, "3")};
  ranks[1].status.reported_ns = kNow - kSecond;
  EXPECT_FALSE(is_to_report(ranks, ranks[0].status, kNow, kLimit));
  ranks[1].status.reported_ns = kNow - 100 * kSecond;  // it reported in an earlier wait
  EXPECT_TRUE(is_to_report(ranks, ranks[0].status, kNow, kLimit));
}

TEST(HangDoctor, SaysWhereRanksAre) {
  std::vector<SeenRank> ranks{waiting(0, 60, "3"), waiting(1, 61, "3"), rank_number(2),
                              rank_number(3)};
  ranks[2].state = 'R';
  ranks[3].state = 'T';
  ranks[3].status.fresh_ns = kNow - 20 * kSecond;
  std::strcpy(ranks[3].status.collective, "reduce");
  std::strcpy(ranks[3].status.communicator, "rows");
  const std::vector<std::string> lines = report_lines(ranks, kNow);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0],
            "rank 0, 1 (process 500, 501) waits for 61 s in allreduce of 8 bytes, call 7 on "
            "MPI_COMM_WORLD of 4 ranks, flat_lines; not arrived there: rank 3");
  EXPECT_EQ(lines[1], "rank 2 (process 502) runs and is in no collective");
  EXPECT_EQ(lines[2],
            "rank 3 (process 503) is stopped (SIGSTOP) and is in no collective, or in one: 20 s "
            "ago it waited in reduce on rows");
}

TEST(HangDoctor, ListsOfManyRanksAreCut) {
  std::vector<SeenRank> ranks;
  for (int r = 0; r < 100; ++r) ranks.push_back(r < 50 ? waiting(r, 60, "99") : rank_number(r));
  const std::vector<std::string> lines = report_lines(ranks, kNow);
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_NE(lines[0].find("rank 0, 1, 2, 3, 4, 5, 6, 7 and 42 more (process"), std::string::npos);
  EXPECT_EQ(lines[9], "and 42 more ranks are in no collective");
}

TEST(HangDoctor, APageIsSeenThroughItsProcess) {
  note_job(0x1234567 + static_cast<std::uint64_t>(getpid()), 4);
  RankStatus* const own = own_page();
  ASSERT_NE(own, nullptr);
  std::strcpy(own->collective, "bcast");
  own->fresh_ns = clock_ns();
  const std::vector<SeenRank> ranks = seen_ranks();
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].status.pid, getpid());
  EXPECT_STREQ(ranks[0].status.collective, "bcast");
  EXPECT_TRUE(ranks[0].waits(clock_ns()));
  EXPECT_NE(ranks[0].state, '?');
}

TEST(HangDoctor, APageHalfWrittenTellsOfNoWait) {
  note_job(0x1234567 + static_cast<std::uint64_t>(getpid()), 4);
  RankStatus* const own = own_page();
  ASSERT_NE(own, nullptr);
  own->fresh_ns = clock_ns();
  begin_writing(own->version);
  const std::vector<SeenRank> half = seen_ranks();
  end_writing(own->version);
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0].status.pid, getpid());
  EXPECT_FALSE(half[0].waits(clock_ns()));
  EXPECT_TRUE(seen_ranks().at(0).waits(clock_ns()));
}

}  // namespace
}  // namespace sumac

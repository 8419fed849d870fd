// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_STATS prints these reports at MPI_Finalize: which way calls went, and how long they took.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "observe/learnt.h"
#include "observe/stats.h"

namespace sumac {

// The struct is plain bytes, so that ranks can send it to one another.
struct RankReport {
  Stats stats;
  Times times;
  CountedCalls counted;
  LearntTable learnt;
};

// A path is one way that calls of a collective may go.
struct Path {
  int number;  // as in observe/stats.h
  const char* name;
  bool taken;
  PathCount count;
  std::uint64_t ns;
};

// Calls visit() for every path of the collective that was gone.
void for_each_path(const RankReport& report, Collective collective,
                   const std::function<void(const Path&)>& visit);

// A report tells how the program has ended: "MPI_Finalize", "exit", "MPI_Abort", or "unknown" while
// nobody knows.
inline constexpr const char* kEndByFinalize = "MPI_Finalize";

// Returns a table of one rank.
std::string rank_table(const RankReport& report, int rank, int size, const char* end);
// Returns a table of all ranks, with the least and the most of any of them.
std::string ranks_table(const std::vector<RankReport>& reports);

// Returns one rank's counts as JSON.
std::string counts_json(const RankReport& report);
// Returns rank 0's counts as JSON, and every rank's if `all` has them.
std::string report_json(const RankReport& own, int size, const std::vector<RankReport>& all,
                        const char* end);

}  // namespace sumac

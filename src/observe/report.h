// SPDX-License-Identifier: BSD-3-Clause
// What SUMAC_STATS tells at MPI_Finalize: which way calls went, and how long they took.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "observe/counted.h"
#include "observe/times.h"

namespace sumac {

// Plain bytes.
struct RankReport {
  Stats stats;
  Times times;
  CountedCalls counted;
};

// One way that calls of a collective may go.
struct Path {
  int number;  // as in observe/times.h
  const char* name;
  bool taken;
  PathCount count;
  std::uint64_t ns;
};

// Calls visit() for every path of the collective that was gone.
void for_each_path(const RankReport& report, Collective collective,
                   const std::function<void(const Path&)>& visit);

// How the program has ended, or "exit", "MPI_Abort", or "unknown" while nobody knows.
inline constexpr const char* kEndByFinalize = "MPI_Finalize";

// A table of one rank.
std::string rank_table(const RankReport& report, int rank, int size, const char* end);
// Of all: the least and the most of any rank.
std::string ranks_table(const std::vector<RankReport>& reports);

// As JSON: one rank's.
std::string counts_json(const RankReport& report);
// As JSON: rank 0's, and every rank's where `all` has them.
std::string report_json(const RankReport& own, int size, const std::vector<RankReport>& all,
                        const char* end);

}  // namespace sumac

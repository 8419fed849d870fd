// SPDX-License-Identifier: BSD-3-Clause
// A rank knows this of the ranks of its own node, and of no others.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rank_list.h"
#include "machine/liveness.h"

namespace sumac {

// This rank can see whether the process of that rank runs.
struct WatchedRank {
  WatchedProcess process;
  int job_rank = -1;  // -1: not known
};

struct OwnNode {
  RankList ranks;  // ranks of the team, in ascending order
  // These are indexed by place in `ranks`.
  std::vector<std::uint64_t> processes;  // which process it is
  std::vector<pid_t> pids;               // 0 if attach does not work
  std::vector<WatchedRank> watched;      // empty if the process cannot be seen

  // Returns the entries of these ranks, which are all on the node.
  template <class Value>
  std::vector<Value> of(const std::vector<Value>& values, const RankList& members) const {
    std::vector<Value> list;
    for (const int rank : members) {
      list.push_back(values[static_cast<std::size_t>(ranks.index_of(rank))]);
    }
    return list;
  }
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// For tests: the members of a communicator in one block of this process's memory, each with its
// queue, and any of a group's algorithms.
#pragma once

#include "algorithms/table.h"
#include "algorithms/test_support.h"
#include "progress/test_programs.h"

namespace sumac::testing {

// A communicator as one of its members sees it.
struct Endpoint {
  int member = 0;
  Ranks ranks;
  ShmGroup group;
  LocalPeerMemory memory;
  WorkQueue queue;
  Work blocking;           // of the blocking call going on
  std::deque<Work> works;  // by call, where it is nonblocking
};

class SharedBlock {
 public:
  SharedBlock(int ranks, std::size_t ring, std::size_t slot_bytes)
      : block_(layout_of(ranks, ring, slot_bytes)) {}
  void add(Endpoint& endpoint, int member) const {
    endpoint.member = member;
    endpoint.group = block_.group(member);
    endpoint.ranks = {&endpoint.group, nullptr, &endpoint.memory};
  }

 private:
  static Layout layout_of(int ranks, std::size_t ring, std::size_t slot_bytes) {
    Layout layout;
    layout.ranks = ranks;
    layout.ring = ring;
    layout.slot_bytes = slot_bytes;
    return layout;
  }
  TestBlock block_;
};

// A call of any algorithm of a group; many chunks where it has chunks.
inline void add_group_call(std::deque<Call>& calls, int members, bool overlaps, std::size_t most,
                           Random& random) {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> some;
    for (const Algorithm algorithm : kAllAlgorithms) {
      const AlgorithmEntry& entry = entry_of(algorithm);
      // A barrier twice: there are fewer of them than of others.
      const int times = entry.collective == Collective::barrier ? 2 : 1;
      if (entry.start) some.insert(some.end(), times, algorithm);
    }
    return some;
  }();
  Choice choice;
  choice.algorithm = all[below(random, all.size())];
  const AlgorithmInfo& info = info_of(choice.algorithm);
  if (info.needs == Needs::lines) most = kLinesData / sizeof(Word);
  if (random() % 2) most = std::min<std::size_t>(most, 40);
  calls.emplace_back(choice, info.collective, members, overlaps, tree_kernel, most, random);
}

}  // namespace sumac::testing

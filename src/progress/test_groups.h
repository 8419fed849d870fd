// SPDX-License-Identifier: BSD-3-Clause
// For tests: the members of a communicator in one block of this process's memory, each with its
// queue, and any of a group's algorithms.
#pragma once

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
  static constexpr Algorithm kAlgorithms[] = {
      Algorithm::allreduce_flat_lines,  Algorithm::allreduce_flat_slots,
      Algorithm::allreduce_split_slots, Algorithm::allreduce_single_copy,
      Algorithm::reduce_flat_lines,     Algorithm::reduce_flat_slots,
      Algorithm::reduce_split_slots,    Algorithm::reduce_single_copy,
      Algorithm::bcast_lines,           Algorithm::bcast_slots,
      Algorithm::bcast_single_copy,     Algorithm::barrier_flat,
      Algorithm::barrier_flat};
  Choice choice;
  choice.algorithm = kAlgorithms[below(random, std::size(kAlgorithms))];
  const AlgorithmInfo& info = info_of(choice.algorithm);
  if (info.needs == Needs::lines) most = kLinesData / sizeof(Word);
  if (random() % 2) most = std::min<std::size_t>(most, 40);
  calls.emplace_back(choice, info.collective, members, overlaps, tree_kernel, most, random);
}

}  // namespace sumac::testing

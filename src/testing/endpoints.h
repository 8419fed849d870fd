// SPDX-License-Identifier: BSD-3-Clause
// The members of a communicator are in one block of this process's memory. Each has its queue, and
// takes any of a group's algorithms.
#pragma once

#include "algorithms/table.h"
#include "testing/one_process.h"
#include "testing/programs.h"

namespace sumac::testing {

// This is a communicator as one of its members sees it.
struct Endpoint {
  int member = 0;
  Ranks ranks;
  ShmGroup group;
  LocalPeerMemory memory;
  WorkQueue queue;
  Work blocking;           // the blocking call going on
  std::deque<Work> works;  // indexed by call; used if it is nonblocking
};

// Makes the endpoint this member of a block.
inline void join(Endpoint& endpoint, const TestBlock& block, int member) {
  endpoint.member = member;
  endpoint.group = block.group(member);
  endpoint.ranks = {&endpoint.group, nullptr, &endpoint.memory};
}

// Returns the direct algorithm of a collective, or native.
inline Algorithm direct_of(Collective collective) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.collective == collective && info.needs == Needs::maps) return algorithm;
  }
  return Algorithm::native;
}

// Returns all algorithms of a group. Those of a barrier come twice, since there are fewer of them
// than of others.
inline const std::vector<Algorithm>& group_algorithms() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> some;
    for (const Algorithm algorithm : kAllAlgorithms) {
      const AlgorithmEntry& entry = entry_of(algorithm);
      const int times = entry.collective == Collective::barrier ? 2 : 1;
      if (entry.start) some.insert(some.end(), times, algorithm);
    }
    return some;
  }();
  return all;
}

// Adds a call of any of the algorithms, with many chunks if it has chunks. Some calls go direct.
inline void add_group_call(std::deque<ProgramCall>& calls, int members, bool overlaps,
                           std::size_t most, Random& random,
                           const std::vector<Algorithm>& among = group_algorithms()) {
  Choice choice;
  choice.algorithm = among[below(random, among.size())];
  const AlgorithmInfo& info = info_of(choice.algorithm);
  if (info.needs == Needs::lines) most = kLinesData / sizeof(Word);
  if (random() % 2) most = std::min<std::size_t>(most, 40);
  CallSetting setting;
  setting.what = info.collective;
  setting.count = 1 + below(random, most);
  setting.ranks = members;
  setting.root = static_cast<int>(below(random, static_cast<std::size_t>(members)));
  setting.in_place = random() % 2;
  setting.kernel = kernel_showing(info.order);
  setting.lists_parts = info.needs == Needs::lines || random() % 2;  // a vector of few bytes
  ProgramCall& call = calls.emplace_back(setting, choice, overlaps, random);
  const bool same_order = info.order == Order::rank || info.order == Order::none;
  if (!same_order || random() % 4) return;
  call.direct = direct_of(info.collective);
  if (random() % 4 == 0) call.unmapped = static_cast<int>(below(random, members));
}

}  // namespace sumac::testing

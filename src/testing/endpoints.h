// SPDX-License-Identifier: BSD-3-Clause
// Random programs make blocking and nonblocking collectives on several communicators that share
// ranks. The test decides how they are carried out: ranks take turns in one thread, or each is a
// thread. The members of a communicator may be in one block of this process's memory: each has its
// queue, and takes any of a group's algorithms.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/table.h"
#include "progress/queue.h"
#include "testing/one_process.h"
#include "testing/test_call.h"

namespace sumac::testing {

// A call is begun and waited for, or is a blocking one.
struct ProgramCall : TestCall {
  Choice choice;
  bool overlaps;
  Algorithm direct = Algorithm::native;  // this algorithm is tried first
  int unmapped = -1;                     // the buffers of this member are then not mapped

  ProgramCall(const CallSetting& setting, const Choice& c, bool nonblocking, Random& random)
      : TestCall(setting, random), choice(c), overlaps(nonblocking) {
    if (choice.algorithm != Algorithm::native) name += std::string(":") + name_of(choice.algorithm);
    name += overlaps ? " nonblocking" : " blocking";
  }

  // described() returns the call as the member makes it, attempt() what it tries first.
  ChosenCall described(int member) {
    return {TestCall::arguments(member, choice.radix), what, choice};
  }
  DirectTry attempt(int member) const {
    return {direct, Algorithm::native, 128, member != unmapped};
  }
};

// The step says what a rank does next, with one of the calls of one of the communicators.
struct ProgramStep {
  enum class Kind {
    begin,  // a nonblocking call
    wait,   // waits for a call that was begun, looking at the queues
    idle,   // waits for such a call without looking: somebody else must
    block,  // a blocking call
  };
  Kind kind;
  std::size_t communicator;
  std::size_t call;
};

struct Members {
  std::vector<int> ranks;  // who is in the communicator
  std::deque<ProgramCall> calls;

  int member(int rank) const {
    const auto place = std::find(ranks.begin(), ranks.end(), rank);
    return place == ranks.end() ? -1 : static_cast<int>(place - ranks.begin());
  }
};

// Returns a communicator of all ranks, and others of some of them in any order. There are at most
// `most` communicators.
inline std::deque<Members> random_communicators(int ranks, std::size_t most, Random& random) {
  std::deque<Members> all(1 + below(random, most));
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (int r = 0; r < ranks; ++r) {
      if (c == 0 || random() % 3 != 0) all[c].ranks.push_back(r);
    }
    if (all[c].ranks.size() < 2) all[c].ranks = all[0].ranks;
    if (c > 0) std::shuffle(all[c].ranks.begin(), all[c].ranks.end(), random);
  }
  return all;
}

// Returns the steps of each rank: it makes the calls in the order given by `order` (a communicator
// for each call), and waits now and then for any of those it has begun; at most `most` are open.
inline std::vector<std::deque<ProgramStep>> random_programs(int ranks,
                                                            const std::deque<Members>& all,
                                                            const std::vector<std::size_t>& order,
                                                            std::size_t most, Random& random) {
  std::vector<std::deque<ProgramStep>> programs(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    std::deque<ProgramStep>& program = programs[static_cast<std::size_t>(r)];
    std::vector<std::size_t> next(all.size());
    std::vector<ProgramStep> open;
    const auto wait_for_some = [&](std::size_t left) {
      while (open.size() > left) {
        std::swap(open[below(random, open.size())], open.back());
        open.back().kind = random() % 4 ? ProgramStep::Kind::wait : ProgramStep::Kind::idle;
        program.push_back(open.back());
        open.pop_back();
      }
    };
    for (const std::size_t c : order) {
      const std::size_t call = next[c]++;
      if (all[c].member(r) < 0) continue;
      const bool overlaps = all[c].calls[call].overlaps;
      program.push_back({overlaps ? ProgramStep::Kind::begin : ProgramStep::Kind::block, c, call});
      if (overlaps) open.push_back(program.back());
      wait_for_some(random() % 8 ? most : below(random, most));
    }
    wait_for_some(0);
  }
  return programs;
}

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

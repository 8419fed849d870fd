// SPDX-License-Identifier: BSD-3-Clause
// Transfers between ranks are refused in the middle of operations, whichever and whosever they are.
// Results are right all the same, in place too, and no rank touches another one's buffers after it
// has returned.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/direct.h"
#include "algorithms/table.h"
#include "testing/group_world.h"
#include "testing/test_call.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kSlot = 512, kSmallPage = 128;

// Says which transfers of a rank are refused.
struct Refusing {
  bool reads = false, writes = false;
  int from = 0;   // refuses after so many transfers
  int every = 1;  // refuses one in so many; others are let through
  int peer = -1;  // refuses transfers with this peer; -1: with all
};

class RefusingMemory final : public PeerMemory {
 public:
  RefusingMemory(PeerMemory& memory, const Refusing& refusing, int& refused)
      : memory_(memory), refusing_(refusing), refused_(refused) {}
  std::byte* view(int peer, std::uintptr_t address, std::size_t bytes) override {
    return memory_.view(peer, address, bytes);
  }
  // A refused read may still have copied some of the data.
  bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) override {
    const bool lets = !(refusing_.reads && refuses(peer));
    return memory_.read(peer, address, to, lets ? bytes : bytes / 2) && lets;
  }
  bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) override {
    const bool lets = !(refusing_.writes && refuses(peer));
    return memory_.write(peer, address, from, lets ? bytes : bytes / 2) && lets;
  }

 private:
  bool refuses(int peer) {
    const int number = transfers_++;
    const bool refused = number >= refusing_.from && number % refusing_.every == 0 &&
                         (refusing_.peer < 0 || refusing_.peer == peer);
    refused_ += refused;
    return refused;
  }

  PeerMemory& memory_;
  const Refusing refusing_;
  int& refused_;
  int transfers_ = 0;
};

// Returns the algorithm that takes over from a direct one.
Algorithm single_copy_of(Collective collective) {
  for (const Algorithm other : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(other);
    if (info.collective == collective && info.needs == Needs::single_copy) return other;
  }
  return Algorithm::native;
}

struct Way {
  Algorithm algorithm;
  int ranks;
  bool in_place;
  std::size_t words;
  Control control;
  std::size_t slot;
};

CallSetting setting_of(const Way& way) {
  const AlgorithmEntry& entry = entry_of(way.algorithm);
  CallSetting setting;
  setting.what = entry.collective;
  setting.kernel = kernel_showing(entry.order);
  setting.ranks = way.ranks;
  setting.in_place = way.in_place;
  setting.count = way.words;
  setting.root = way.ranks - 1;
  return setting;
}

// Returns which data have gaps, among those that the algorithm takes with gaps.
unsigned gaps_for(const AlgorithmEntry& entry, bool in_place, bool payload, std::mt19937& random) {
  if (entry.order != Order::none || entry.needs == Needs::maps || !payload) return 0;
  const TakesGaps takes = takes_gaps(entry, true);
  const bool receives = takes.received && (takes.sent || !in_place);
  return static_cast<unsigned>(random()) & ((takes.sent ? 3u : 0) | (receives ? 12u : 0));
}

// Runs two calls, and returns the number of transfers that were refused. `refused` has a bit for
// each rank whose transfers are refused.
int run(const Way& way, unsigned refused, const Refusing& refusing, unsigned seed) {
  const AlgorithmEntry& entry = entry_of(way.algorithm);
  std::mt19937 random(seed);
  std::vector<std::unique_ptr<TestCall>> calls;
  for (int i = 0; i < 2; ++i) {
    calls.push_back(std::make_unique<TestCall>(setting_of(way), random));
    calls.back()->strided = gaps_for(entry, way.in_place, way.slot > 0, random);
    calls.back()->name = std::string(name_of(entry.collective)) + ":" + entry.name;
  }
  World world(way.ranks, 8, way.slot, way.control);
  std::vector<std::unique_ptr<RefusingMemory>> memories;
  int count = 0;
  for (int r = 0; r < way.ranks; ++r) {
    memories.push_back(std::make_unique<RefusingMemory>(world[r].memory, refusing, count));
    if (refused >> r & 1) world[r].peers.memory = memories.back().get();
    for (auto& call : calls) {
      const auto start = [&entry, &way, call = call.get()](Rank& rank) {
        rank.args = call->arguments(rank.group.rank());
        if (entry.start) return entry.start(rank.strand, rank.group, rank.args, rank.peers);
        rank.direct = {way.algorithm, single_copy_of(call->what), kSmallPage, true};
        return try_direct(rank.strand, rank.group, call->what, rank.args, rank.peers, rank.direct);
      };
      world[r].program.push_back(
          {start, [call = call.get()](Rank& rank) { call->end(rank.group.rank()); }});
    }
  }
  EXPECT_TRUE(world.run(random)) << "ranks wait for one another: " << calls[0]->name;
  for (auto& call : calls) call->expect_left_alone();
  return count;
}

class Refused : public ::testing::TestWithParam<Algorithm> {
 protected:
  // The transfers of all ranks are refused, those of one rank, and those of the last one's peers.
  void sweep(int ranks, bool in_place, Control control, std::size_t slot) {
    const bool long_rows = entry_of(GetParam()).collective == Collective::alltoallv;
    const std::size_t words = long_rows ? 5000 : 3000;
    const Way way{GetParam(), ranks, in_place, words, control, slot};
    const unsigned all = (1u << ranks) - 1;
    std::vector<unsigned> who{all};
    for (int r = 0; r < ranks; ++r) who.push_back(1u << r);
    for (const unsigned refused : who) {
      for (const int from : {0, 1, 3, 8, 21}) {
        try_all(way, refused, from, 1);
        if (refused == all) try_all(way, refused, from, 3);
      }
    }
  }
  void try_all(const Way& way, unsigned refused, int from, int every) {
    for (const int peer : {-1, way.ranks - 1}) {
      for (const int kinds : {1, 2, 3}) {
        const Refusing refusing{(kinds & 1) != 0, (kinds & 2) != 0, from, every, peer};
        refusals_ += run(way, refused, refusing, ++seed_);
        ASSERT_FALSE(HasFailure())
            << way.ranks << " ranks, refused " << refused << " from " << from << ", one of "
            << every << ", peer " << peer << ", kinds " << kinds << ", in place " << way.in_place
            << ", slot " << way.slot;
      }
    }
  }

  long refusals_ = 0;
  unsigned seed_ = 0;
};

TEST_P(Refused, ResultsAreRight) {
  for (const int ranks : {2, 3, 5}) {
    for (const bool in_place : {false, true}) {
      sweep(ranks, in_place, in_place ? Control::slab : Control::slot, kSlot);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(refusals_, 100);
}

// The slots have no payload, as those of persistent operations that need them for addresses only.
TEST_P(Refused, WithoutPayload) {
  const AlgorithmEntry& entry = entry_of(GetParam());
  if (entry.needs == Needs::maps || entry.collective == Collective::alltoallv) GTEST_SKIP();
  for (const Control control : {Control::slot, Control::staggered}) {
    sweep(3, true, control, 0);
    if (HasFailure()) return;
  }
}

std::vector<Algorithm> that_reach_memory() {
  std::vector<Algorithm> some;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const Needs needs = info_of(algorithm).needs;
    if (needs == Needs::single_copy || needs == Needs::maps) some.push_back(algorithm);
  }
  return some;
}
std::string title(const ::testing::TestParamInfo<Algorithm>& info) {
  const AlgorithmEntry& entry = entry_of(info.param);
  return std::string(name_of(entry.collective)) + "_" + entry.name;
}
INSTANTIATE_TEST_SUITE_P(All, Refused, ::testing::ValuesIn(that_reach_memory()), title);

}  // namespace
}  // namespace sumac::testing

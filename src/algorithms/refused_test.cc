// SPDX-License-Identifier: BSD-3-Clause
// A transfer is refused in the middle of an operation, any of one rank's: whatever the other ranks
// do afterwards, those that return have the right result.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/direct.h"
#include "algorithms/table.h"
#include "testing/group_world.h"
#include "testing/test_call.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kSlot = 512, kSmallPage = 128;
enum Outcome : int { kNobodyWrong, kSomebodyWrong, kNotRefused };

// Refuses all transfers after the first ones.
class RefusingMemory final : public PeerMemory {
 public:
  RefusingMemory(PeerMemory& memory, int transfers) : memory_(memory), left_(transfers) {}
  std::byte* view(int peer, std::uintptr_t address, std::size_t bytes) override {
    return memory_.view(peer, address, bytes);
  }
  bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) override {
    return left_-- > 0 && memory_.read(peer, address, to, bytes);
  }
  bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) override {
    return left_-- > 0 && memory_.write(peer, address, from, bytes);
  }

 private:
  PeerMemory& memory_;
  int left_;
};

// The refused rank stays where it is; the others go on as far as they can, and the process ends.
class OthersGoOn final : public OnRefusal {
 public:
  OthersGoOn(World& world, int refused) : world_(world), refused_(refused) {}
  [[noreturn]] void refused() override {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < world_.size(); ++r) moved |= r != refused_ && world_[r].step();
    }
    std::fflush(nullptr);
    std::_Exit(::testing::Test::HasFailure() ? kSomebodyWrong : kNobodyWrong);
  }

 private:
  World& world_;
  const int refused_;
};

// What takes over from a direct algorithm.
Algorithm single_copy_of(Collective collective) {
  for (const Algorithm other : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(other);
    if (info.collective == collective && info.needs == Needs::single_copy) return other;
  }
  return Algorithm::native;
}

CallSetting setting_of(const AlgorithmEntry& entry, int ranks, std::size_t words) {
  CallSetting setting;
  setting.what = entry.collective;
  setting.kernel = kernel_showing(entry.order);
  setting.ranks = ranks;
  setting.count = words;
  setting.root = ranks - 1;
  return setting;
}

// Runs calls of an algorithm in which a rank is refused after so many transfers: two, so that ranks
// that are let out of the first go on.
[[noreturn]] void run(Algorithm algorithm, const CallSetting& setting, int refused, int transfers) {
  const AlgorithmEntry& entry = entry_of(algorithm);
  std::mt19937 random(static_cast<unsigned>(transfers));
  TestCall calls[] = {{setting, random}, {setting, random}};
  World world(setting.ranks, 8, kSlot, Control::slot);
  for (int r = 0; r < setting.ranks; ++r) {
    for (TestCall& call : calls) {
      const auto start = [&](Rank& rank) {
        rank.args = call.arguments(rank.group.rank());
        rank.args.set_radix(2);
        if (entry.start) return entry.start(rank.strand, rank.group, rank.args, rank.peers);
        rank.direct = {algorithm, single_copy_of(call.what), kSmallPage, true};
        return try_direct(rank.strand, rank.group, call.what, rank.args, rank.peers, rank.direct);
      };
      world[r].program.push_back({start, [&](Rank& rank) { call.end(rank.group.rank()); }});
    }
  }
  RefusingMemory memory(world[refused].memory, transfers);
  OthersGoOn others(world, refused);
  world[refused].peers.memory = &memory;
  world[refused].peers.on_refusal = &others;
  EXPECT_TRUE(world.run(random)) << "ranks wait for one another";
  std::fflush(nullptr);
  std::_Exit(::testing::Test::HasFailure() ? kSomebodyWrong : kNotRefused);
}

int outcome_of_run(Algorithm algorithm, const CallSetting& setting, int refused, int transfers) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) run(algorithm, setting, refused, transfers);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Refused : public ::testing::TestWithParam<Algorithm> {};

TEST_P(Refused, NobodyReturnsWithAWrongResult) {
  int refusals = 0;
  for (const int ranks : {2, 3, 5}) {
    const CallSetting setting = setting_of(entry_of(GetParam()), ranks, 5000);
    for (int refused = 0; refused < ranks; ++refused) {
      int outcome = kNobodyWrong;
      for (int transfers = 0; outcome == kNobodyWrong; transfers += 1 + transfers / 3) {
        outcome = outcome_of_run(GetParam(), setting, refused, transfers);
        refusals += outcome == kNobodyWrong;
      }
      EXPECT_EQ(outcome, kNotRefused) << "rank " << refused << " of " << ranks;
    }
  }
  EXPECT_GT(refusals, 0);
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

// SPDX-License-Identifier: BSD-3-Clause
// The tests run every algorithm over messages, in one group, with adversarial interleavings. They
// compare results with a serial fold, the order of folding with the one that the row names, and the
// bytes really sent with those that the cost function returns.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "algorithms/table.h"
#include "testing/levels_world.h"
#include "testing/test_call.h"

namespace sumac::testing {
namespace {

struct Call : TestCall {
  const AlgorithmEntry& entry;
  int radix;
  std::vector<CallArguments> args;
  std::vector<MessageGroup> groups;

  Call(const AlgorithmEntry& e, int p, int its_root, Random& random)
      : TestCall(setting_of(e, p, its_root, random), random),
        entry(e),
        radix(2 + below(random, 6)),
        args(static_cast<std::size_t>(p)),
        groups(static_cast<std::size_t>(p)) {
    name = std::string(name_of(what)) + ":" + e.name + " radix " + std::to_string(radix);
    if (e.order == Order::none) strided = static_cast<unsigned>(random());
  }

  void start(LevelsWorld& world, int r) {
    LevelsRank& rank = world[r];
    const auto me = static_cast<std::size_t>(r);
    args[me] = arguments(r, radix);
    LevelGroup& level = rank.levels.groups[0];
    groups[me] = world.message_group(rank, level.members, level.rank, 0, bytes());
    rank.own_strands.push_back(std::make_unique<Strand>());
    Strand& strand = *rank.own_strands.back();
    strand.preempt_at_every_wait(true);
    strand.start(entry.start_sending(strand, groups[me], args[me]));
  }

  void expect_cost(const PostOffice& office) const {
    GroupCall call;
    call.ranks = ranks;
    call.root = root;
    call.bytes = bytes();
    call.radix = radix;
    call.element = sizeof(Word);
    call.listed = parts[0].data();
    const Traffic traffic = entry.cost(call);
    EXPECT_TRUE(traffic.cost.known) << shown(0);
    std::map<std::pair<int, int>, std::size_t> told;
    for (const Message& message : traffic.messages) {
      if (message.bytes) told[{message.from, message.to}] += message.bytes;
    }
    EXPECT_EQ(told, office.bytes) << shown(0);
  }

 private:
  static CallSetting setting_of(const AlgorithmEntry& entry, int ranks, int root, Random& random) {
    CallSetting setting;
    setting.what = entry.collective;
    setting.count = 1 + below(random, random() % 3 ? 40u : 2000u);
    setting.ranks = ranks;
    if (info_of(entry.collective).has_root) setting.root = root;
    setting.in_place = random() % 2;
    setting.kernel = kernel_showing(entry.order);
    if (entry.order == Order::rotated) setting.fold = Fold::rotated;
    return setting;
  }
};

// Returns all ranks as one group, which they reach by messages.
Hierarchy one_group(int ranks) {
  Hierarchy hierarchy;
  hierarchy.levels.resize(1);
  Group group;
  for (int r = 0; r < ranks; ++r) group.members.push_back(r);
  hierarchy.levels[0].groups.push_back(group);
  return hierarchy;
}

class OverMessages : public ::testing::TestWithParam<Algorithm> {};

TEST_P(OverMessages, ResultsOrderAndCost) {
  const AlgorithmEntry& entry = entry_of(GetParam());
  for (int ranks = 2; ranks <= 20; ++ranks) {
    // Every rank is the root once.
    for (unsigned seed = 0; seed < static_cast<unsigned>(std::max(12, ranks)); ++seed) {
      Random random(seed * 100 + static_cast<unsigned>(ranks));
      LevelsWorld world(one_group(ranks), ranks, 1024, seed);
      Call call(entry, ranks, static_cast<int>(seed) % ranks, random);
      for (int r = 0; r < ranks; ++r) {
        world[r].program.push_back([&, r] { call.start(world, r); });
      }
      ASSERT_TRUE(world.run()) << "no rank can go on; " << call.shown(0);
      for (int r = 0; r < ranks; ++r) call.expect_result(r);
      call.expect_cost(world.office());
      if (HasFailure()) return;
    }
  }
}

// The MPI's own all-reduce needs an MPI, so it is left out.
std::vector<Algorithm> all_over_messages() {
  std::vector<Algorithm> all;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.needs == Needs::messages) all.push_back(algorithm);
  }
  return all;
}

std::string title(const ::testing::TestParamInfo<Algorithm>& info) {
  return std::string(name_of(info_of(info.param).collective)) + "_" + name_of(info.param);
}
INSTANTIATE_TEST_SUITE_P(All, OverMessages, ::testing::ValuesIn(all_over_messages()), title);

}  // namespace
}  // namespace sumac::testing

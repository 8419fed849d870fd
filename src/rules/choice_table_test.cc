// SPDX-License-Identifier: BSD-3-Clause
#include "rules/choice_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "rules/rules.h"
#include "rules/rules_parse.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

const RuleSet kNone;

Capabilities capabilities(int ranks, bool copies, bool oversubscribed, Over over = Over::shm) {
  Capabilities c;
  c.ranks = ranks;
  c.reach = copies ? Reach::copies : Reach::none;
  c.oversubscribed = oversubscribed;
  c.over = over;
  return c;
}

RuleSet rules(const std::string& text) {
  RuleSet set;
  std::string problem;
  EXPECT_TRUE(parse_rules(text, "test", set, problem)) << problem;
  return set;
}

std::string rule(const std::string& what, const std::string& bytes, const std::string& algorithm) {
  return "[[rule]]\ncollective=\"allreduce\"\nover=\"" + what + "\"\nbytes=\"" + bytes +
         "\"\nalgorithm=\"" + algorithm + "\"\n";
}

// Returns what the shipped rules choose for an all-reduce.
Algorithm shipped(const Capabilities& c, std::size_t bytes) {
  return ChoiceTable(kNone, c, "").choose(Collective::allreduce, bytes).algorithm;
}

TEST(ChoiceTable, UsersRulesComeFirst) {
  const RuleSet user = rules(rule("shm", "100-200", "flat_slots") +
                             rule("shm", "150-300", "split_slots") + rule("shm", "8K-", "native"));
  const Capabilities c = capabilities(4, false, false);
  const ChoiceTable choices(user, c, "");
  const auto chosen = [&](std::size_t bytes) {
    return choices.choose(Collective::allreduce, bytes).algorithm;
  };
  EXPECT_EQ(chosen(100), Algorithm::allreduce_flat_slots);
  EXPECT_EQ(chosen(200), Algorithm::allreduce_flat_slots);
  EXPECT_EQ(chosen(201), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(300), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(8192), Algorithm::native);
  EXPECT_EQ(chosen(SIZE_MAX), Algorithm::native);
  for (const std::size_t bytes : {0, 99, 301, 8191}) EXPECT_EQ(chosen(bytes), shipped(c, bytes));
  EXPECT_EQ(choices.range(Collective::allreduce, 100).rule, 0);
  EXPECT_EQ(choices.range(Collective::allreduce, 250).rule, 1);
  const std::int32_t index = choices.range(Collective::allreduce, 99).rule - 3;
  ASSERT_GE(index, 0);
  EXPECT_EQ(shipped_rules().rules[static_cast<std::size_t>(index)].choice.algorithm, chosen(99));
}

TEST(ChoiceTable, AChoiceHasTheRadixAndTheChunkOfItsRule) {
  const RuleSet user =
      rules(rule("p2p", "-8K", "recursive_doubling") + "radix=4\n" +
            rule("p2p", "-9K", "recursive_doubling") + rule("levels", "-8K", "levels") +
            "chunk=\"4K\"\n" + rule("levels", "-9K", "levels"));
  const auto chosen = [&](Over over, std::size_t bytes) {
    return ChoiceTable(user, capabilities(8, false, false, over), "")
        .choose(Collective::allreduce, bytes);
  };
  EXPECT_EQ(chosen(Over::p2p, 8 << 10).radix, 4);
  EXPECT_EQ(chosen(Over::p2p, 9 << 10).radix, 2);
  EXPECT_EQ(chosen(Over::p2p, 9 << 10).chunk, 0U);
  EXPECT_EQ(chosen(Over::levels, 8 << 10).chunk, 4U << 10);
  EXPECT_TRUE(chosen(Over::levels, 8 << 10).exact_chunk);
  EXPECT_EQ(chosen(Over::levels, 9 << 10).chunk, kDefaultChunk);
  EXPECT_FALSE(chosen(Over::levels, 9 << 10).exact_chunk);
}

TEST(ChoiceTable, RulesAskForRoom) {
  const RuleSet user = rules(rule("shm", "0-", "single_copy") + "room=\"spare\"\n" +
                             rule("shm", "0-", "flat_slots") + "room=\"own\"\n" +
                             rule("shm", "0-", "split_slots") + "room=\"shared\"\n");
  Capabilities c = capabilities(4, true, false);
  const auto chosen = [&] {
    return ChoiceTable(user, c, "").choose(Collective::allreduce, 64).algorithm;
  };
  EXPECT_EQ(chosen(), Algorithm::allreduce_flat_slots);
  c.spare = true;
  EXPECT_EQ(chosen(), Algorithm::allreduce_single_copy);
  c.reach = Reach::none;  // ranks with spare processors have their own, too
  EXPECT_EQ(chosen(), Algorithm::allreduce_flat_slots);
  c.spare = false;
  c.oversubscribed = true;
  EXPECT_EQ(chosen(), Algorithm::allreduce_split_slots);
}

TEST(ChoiceTable, RulesAskHowManyRanksThereAre) {
  const RuleSet user = rules(rule("shm", "0-", "flat_slots") + "ranks=\"3-8\"\n");
  for (const int ranks : {2, 3, 8, 9}) {
    const Capabilities c = capabilities(ranks, false, false);
    const bool meant = ranks >= 3 && ranks <= 8;
    EXPECT_EQ(ChoiceTable(user, c, "").range(Collective::allreduce, 1 << 20).rule == 0, meant);
  }
}

TEST(ChoiceTable, RulesAskHowFarRanksAre) {
  RuleSet user = rules(rule("shm", "0-", "flat_slots") + rule("shm", "0-", "split_slots"));
  user.rules[0].handover = Distance::far;
  user.rules[1].handover = Distance::near;
  Capabilities c = capabilities(4, false, false);
  const auto chosen = [&](Distance distance) {
    c.measured.distance = distance;
    return ChoiceTable(user, c, "").choose(Collective::allreduce, 64).algorithm;
  };
  EXPECT_EQ(chosen(Distance::far), Algorithm::allreduce_flat_slots);
  EXPECT_EQ(chosen(Distance::near), Algorithm::allreduce_split_slots);
  for (const Distance other : {Distance::sibling, Distance::unknown}) {
    EXPECT_EQ(chosen(other), shipped(c, 64));
  }
}

TEST(ChoiceTable, RulesAskWhatAttachCosts) {
  RuleSet user = rules(rule("shm", "0-", "flat_slots") + rule("shm", "0-", "split_slots"));
  user.rules[0].attach = Attach::fast;
  user.rules[1].attach = Attach::slow;
  Capabilities c = capabilities(4, false, false);
  const auto chosen = [&](Attach attach) {
    c.measured.attach = attach;
    return ChoiceTable(user, c, "").choose(Collective::allreduce, 64).algorithm;
  };
  EXPECT_EQ(chosen(Attach::fast), Algorithm::allreduce_flat_slots);
  EXPECT_EQ(chosen(Attach::slow), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(Attach::unknown), shipped(c, 64));
}

// SUMAC_NODE_RADIX makes trees of what the shipped rules send through lines and slots.
TEST(ChoiceTable, TreesOfAnAskedRadix) {
  for (const int ranks : {2, 3, 16, 100}) {
    for (const bool shared : {false, true}) {
      Capabilities c = capabilities(ranks, true, shared);
      const ChoiceTable usual(kNone, c, "");
      for (const std::uint16_t radix : {1, 2, 8, 64}) {
        c.node_radix = radix;
        const ChoiceTable choices(kNone, c, "");
        for (const Collective collective : {Collective::allreduce, Collective::reduce,
                                            Collective::bcast, Collective::allgather}) {
          for (const std::size_t bytes : {8, 2072, 2073, 64 << 10, 16 << 20}) {
            const ChoiceRange& range = choices.range(collective, bytes);
            const Choice& before = usual.choose(collective, bytes);
            const bool through_slots = info_of(before.algorithm).needs != Needs::single_copy;
            if (radix == 1 || !through_slots || collective == Collective::allgather) {
              EXPECT_EQ(range.choice, before);
              EXPECT_GE(range.rule, 0);
            } else {
              EXPECT_STREQ(name_of(range.choice.algorithm), "tree");
              EXPECT_EQ(range.choice.radix, radix);
              EXPECT_EQ(range.rule, kByRadix);
            }
          }
        }
        // A name in SUMAC_ALGO stays in force; if it is a tree's, the tree has this radix.
        EXPECT_EQ(
            ChoiceTable(kNone, c, "reduce:flat_slots").choose(Collective::reduce, 8).algorithm,
            Algorithm::reduce_flat_slots);
        const Choice named = ChoiceTable(kNone, c, "reduce:tree").choose(Collective::reduce, 8);
        EXPECT_EQ(named.algorithm, Algorithm::reduce_tree);
        EXPECT_EQ(named.radix, radix == 1 ? 2 : radix);
        const RuleSet user = rules(rule("shm", "0-", "split_slots"));
        EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
                  Algorithm::allreduce_split_slots);
      }
    }
  }
}

TEST(ChoiceTable, WithinLevelsNothingIsLeftToTheMpi) {
  const RuleSet user = rules(rule("shm", "0-", "native"));
  Capabilities c = capabilities(4, false, false);
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm, Algorithm::native);
  c.within_levels = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm, shipped(c, 8));
}

TEST(ChoiceTable, TooManyRangesLeaveRulesOut) {
  std::string text;
  for (int i = 1; i < 20; ++i) {
    text += rule("shm", std::to_string(i * 100) + "-" + std::to_string(i * 100), "flat_slots");
  }
  const ChoiceTable choices(rules(text), capabilities(4, false, false), "");
  const auto chosen = [&](std::size_t bytes) {
    return choices.choose(Collective::allreduce, bytes).algorithm;
  };
  EXPECT_EQ(chosen(100), Algorithm::allreduce_flat_slots);
  EXPECT_NE(chosen(1900), Algorithm::allreduce_flat_slots);
  for (std::size_t bytes = 0; bytes < 4000; ++bytes) EXPECT_NE(chosen(bytes), Algorithm::native);
}

TEST(ChoiceTable, MultipleLeadersNeedEqualNodes) {
  const RuleSet user = rules(rule("levels", "0-", "multi_leader"));
  Capabilities c = capabilities(4, false, false, Over::levels);
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm, shipped(c, 8));
  c.equal_nodes = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_multi_leader);
}

TEST(ChoiceTable, AllRanksNeedNodesOfAsManyEach) {
  const RuleSet user = rules(rule("levels", "0-", "all_ranks"));
  Capabilities c = capabilities(4, false, false, Over::levels);
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm, shipped(c, 8));
  c.as_many_each = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_all_ranks);
  c.in_rank_order = true;
  EXPECT_NE(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_all_ranks);
}

TEST(ChoiceTable, HandingOverNeedsSlowRanks) {
  const RuleSet user = rules(rule("levels", "0-", "all_ranks_peers"));
  Capabilities c = capabilities(4, false, false, Over::levels);
  c.as_many_each = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm, shipped(c, 8));
  c.has_slow = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_all_ranks_peers);
  c.as_many_each = false;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm, shipped(c, 8));
}

TEST(ChoiceTable, NodesOfTheCommunicatorTellGroupsOfAsManyRanksApart) {
  const RuleSet user = rules(rule("p2p", "0-", "ring") + "nodes = '64-'\n");
  Capabilities c = capabilities(64, false, false, Over::p2p);
  c.nodes = 64;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_ring);
  c.nodes = 4;
  EXPECT_NE(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_ring);
}

TEST(ChoiceTable, ForcedWhereEligible) {
  const char* forced = "allreduce:split_slots;allreduce:ring;bcast:single_copy;reduce:flat_lines";
  const ChoiceTable with(kNone, capabilities(2, true, false), forced);
  const auto chosen = [&](Collective collective, std::size_t bytes) {
    return with.choose(collective, bytes).algorithm;
  };
  EXPECT_EQ(chosen(Collective::allreduce, 8), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(Collective::bcast, 8), Algorithm::bcast_single_copy);
  EXPECT_EQ(chosen(Collective::reduce, kLinesData), Algorithm::reduce_flat_lines);
  EXPECT_NE(chosen(Collective::reduce, kLinesData + 1), Algorithm::reduce_flat_lines);
  const ChoiceTable without(kNone, capabilities(2, false, false), forced);
  EXPECT_NE(without.choose(Collective::bcast, 1 << 20).algorithm, Algorithm::bcast_single_copy);
  const ChoiceTable sending(kNone, capabilities(2, false, false, Over::p2p), forced);
  EXPECT_EQ(sending.choose(Collective::allreduce, 8).algorithm, Algorithm::allreduce_ring);
}

// The algorithms that may replace a choice can run, and fold in the same order.
TEST(NextChoices, CanRunAndGiveTheSameResult) {
  int found = 0;
  for (const int ranks : {2, 3, 5, 16, 17, 64}) {
    for (int bits = 0; bits < 4; ++bits) {
      for (const Attach attach : {Attach::unknown, Attach::fast, Attach::slow}) {
        Capabilities c = capabilities(ranks, bits & 1, bits & 2);
        c.measured.attach = attach;
        const ChoiceTable choices(kNone, c, "");
        for (const CollectiveInfo& info : kCollectives) {
          if (info.collective == Collective::reduce_local) continue;
          for (std::size_t bytes = 0; bytes < SIZE_MAX / 4; bytes = bytes * 3 / 2 + 1) {
            const Choice chosen = choices.choose(info.collective, bytes);
            std::set<Algorithm> known{chosen.algorithm};
            const auto others = next_choices(kNone, c, info.collective, bytes, chosen, 9);
            EXPECT_TRUE(chosen.algorithm != Algorithm::native || others.empty());
            for (const Choice& other : others) {
              ++found;
              EXPECT_TRUE(eligible(other.algorithm, c, bytes)) << info.name << " " << bytes;
              EXPECT_TRUE(known.insert(other.algorithm).second) << "twice " << info.name;
              EXPECT_EQ(info_of(other.algorithm).collective, info.collective);
              EXPECT_EQ(info_of(other.algorithm).order, info_of(chosen.algorithm).order);
              EXPECT_NE(info_of(other.algorithm).order, Order::tree);
              EXPECT_NE(info_of(other.algorithm).needs, Needs::maps);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(found, 1000);
}

// By the shipped rules a rank that needs nothing from others goes on, whatever the machine is like.
TEST(ChoiceTable, SmallCallsWithARootLetGoEarly) {
  for (const int ranks : {2, 3, 5, 17, 64}) {
    for (const Over over : {Over::shm, Over::levels}) {
      for (int bits = 0; bits < 1 << 9; ++bits) {
        Capabilities c;
        c.ranks = ranks;
        c.over = over;
        c.reach = bits & 1 ? Reach::maps : bits & 2 ? Reach::copies : Reach::none;
        c.oversubscribed = bits & 4;
        c.spare = !c.oversubscribed && bits & 8;
        c.measured.distance = bits & 16 ? Distance::near : Distance::far;
        c.measured.attach = bits & 32 ? Attach::fast : Attach::slow;
        c.family = bits & 64 ? Family::openmpi : Family::mpich;
        c.nodes = over == Over::shm ? 1 : bits & 128 ? 2 : 4;
        c.equal_nodes = c.as_many_each = bits & 256;
        const ChoiceTable table(kNone, c, "");
        for (const CollectiveInfo& info : kCollectives) {
          const Collective collective = info.collective;
          if (!info.has_root) continue;
          for (std::size_t bytes = kMostEarly; bytes > 0; bytes -= bytes / 4 + 1) {
            const Choice choice = table.choose(collective, bytes);
            EXPECT_TRUE(info_of(choice.algorithm).early) << name_of(choice.algorithm) << bytes;
            for (const Choice& other : next_choices(kNone, c, collective, bytes, choice, 2)) {
              EXPECT_TRUE(info_of(other.algorithm).early) << name_of(other.algorithm);
            }
          }
        }
      }
    }
  }
}

TEST(NextChoices, BetweenSlotsAndSingleCopyEitherWay) {
  const std::string slots = rule("shm", "0-", "split_slots"),
                    once = rule("shm", "0-", "single_copy");
  const auto next = [](const std::string& user, bool copies) {
    const RuleSet set = rules(user);
    const Capabilities c = capabilities(2, copies, false);
    const Choice chosen = ChoiceTable(set, c, "").choose(Collective::allreduce, 1 << 20);
    return next_choices(set, c, Collective::allreduce, 1 << 20, chosen, 1)[0].algorithm;
  };
  EXPECT_EQ(next(slots + once, true), Algorithm::allreduce_single_copy);
  EXPECT_EQ(next(once + slots, true), Algorithm::allreduce_split_slots);
  EXPECT_NE(next(slots + once, false), Algorithm::allreduce_single_copy);
}

// One after another, as the rules name them.
TEST(NextChoices, AreInTheOrderOfTheRules) {
  const RuleSet set = rules(rule("shm", "0-", "flat_slots") + rule("shm", "0-", "single_copy") +
                            rule("shm", "0-", "flat_slots") + rule("shm", "0-", "split_slots"));
  const Capabilities c = capabilities(2, true, false);
  const Choice chosen = ChoiceTable(set, c, "").choose(Collective::allreduce, 1 << 20);
  const auto next = [&](std::size_t most) {
    std::vector<Algorithm> all;
    for (const Choice& choice :
         next_choices(set, c, Collective::allreduce, 1 << 20, chosen, most)) {
      all.push_back(choice.algorithm);
    }
    return all;
  };
  const std::vector<Algorithm> two{Algorithm::allreduce_single_copy,
                                   Algorithm::allreduce_split_slots};
  EXPECT_EQ(next(2), two);
  EXPECT_EQ(next(1), std::vector<Algorithm>(1, two[0]));
  EXPECT_TRUE(next(0).empty());
}

// A barrier has only one algorithm.
TEST(NextChoices, MayBeNone) {
  const Capabilities c = capabilities(2, true, false);
  const Choice flat = ChoiceTable(kNone, c, "").choose(Collective::barrier, 0);
  EXPECT_TRUE(next_choices(kNone, c, Collective::barrier, 0, flat, 2).empty());
}

// Lines have no room for more, and trees fold in another order.
TEST(NextChoices, ReplaceOnlyWhatItMay) {
  const Choice lines{Algorithm::reduce_flat_lines}, slots{Algorithm::reduce_flat_slots},
      tree{Algorithm::reduce_tree}, to_all{Algorithm::allreduce_flat_slots}, native;
  EXPECT_TRUE(may_replace(slots, lines, 2072));
  EXPECT_FALSE(may_replace(slots, lines, 2073));
  EXPECT_TRUE(may_replace(lines, slots, SIZE_MAX));
  EXPECT_FALSE(may_replace(slots, slots, 8));
  EXPECT_FALSE(may_replace(slots, tree, 8));
  EXPECT_FALSE(may_replace(tree, slots, 8));
  EXPECT_FALSE(may_replace(slots, to_all, 8));
  EXPECT_FALSE(may_replace(native, slots, 8));
  EXPECT_FALSE(may_replace(slots, native, 8));
}

}  // namespace
}  // namespace sumac

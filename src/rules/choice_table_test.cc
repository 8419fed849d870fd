// SPDX-License-Identifier: BSD-3-Clause
#include "rules/choice_table.h"

#include <gtest/gtest.h>

#include <string>

#include "rules/rules.h"
#include "rules/rules_parse.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

constexpr Collective kAll[] = {Collective::allreduce, Collective::reduce, Collective::bcast,
                               Collective::barrier};
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

// Whatever the group, every call has an algorithm of its collective that can run.
TEST(ChoiceTable, AlwaysChoosesWhatCanRun) {
  for (Over over : {Over::shm, Over::p2p, Over::levels}) {
    for (int ranks : {2, 3, 4, 5, 16, 17, 64, 1000}) {
      for (int bits = 0; bits < 16; ++bits) {
        Capabilities c = capabilities(ranks, bits & 1, bits & 2, over);
        c.equal_nodes = c.as_many_each = c.sends = bits & 4;
        c.within_levels = bits & 8;
        const ChoiceTable choices(kNone, c, "");
        for (Collective collective : kAll) {
          // Over levels a barrier is an all-reduce of nothing: no group that sends has one.
          if (over == Over::p2p && collective == Collective::barrier) continue;
          for (std::size_t bytes = 0; bytes < SIZE_MAX / 4; bytes = bytes * 3 / 2 + 1) {
            const Algorithm a = choices.choose(collective, bytes).algorithm;
            ASSERT_NE(a, Algorithm::native) << name_of(collective) << " " << bytes;
            EXPECT_EQ(info_of(a).collective, collective);
            EXPECT_TRUE(eligible(a, c, bytes)) << name_of(collective) << " " << bytes;
          }
        }
      }
    }
  }
}

// These rows say what was chosen in shared memory before the rules were a file; the first row that
// fits counts. A change of these shipped rules changes the rows, too.
struct Row {
  Algorithm algorithm;
  int least_ranks, most_ranks;
  Room room;
  std::size_t most_bytes;
};
constexpr int kAnyRanks = 1 << 30;
constexpr Row kRows[] = {
    {Algorithm::allreduce_flat_lines, 2, 16, Room::any, 2072},
    {Algorithm::allreduce_flat_lines, 17, kAnyRanks, Room::any, 256},
    {Algorithm::allreduce_flat_slots, 2, 2, Room::any, 4 << 20},
    {Algorithm::allreduce_split_slots, 3, kAnyRanks, Room::own, 64 << 10},
    {Algorithm::allreduce_split_slots, 2, kAnyRanks, Room::shared, 1 << 20},
    {Algorithm::allreduce_single_copy, 2, kAnyRanks, Room::any, SIZE_MAX},
    {Algorithm::allreduce_split_slots, 2, kAnyRanks, Room::any, SIZE_MAX},
    {Algorithm::reduce_flat_lines, 2, kAnyRanks, Room::any, 2072},
    {Algorithm::reduce_flat_slots, 2, kAnyRanks, Room::shared, SIZE_MAX},
    {Algorithm::reduce_flat_slots, 2, 2, Room::any, SIZE_MAX},
    {Algorithm::reduce_flat_slots, 3, kAnyRanks, Room::any, 8 << 10},
    {Algorithm::reduce_split_slots, 3, kAnyRanks, Room::any, 32 << 10},
    {Algorithm::reduce_single_copy, 2, kAnyRanks, Room::any, SIZE_MAX},
    {Algorithm::reduce_split_slots, 3, kAnyRanks, Room::any, SIZE_MAX},
    {Algorithm::bcast_lines, 2, kAnyRanks, Room::any, 2072},
    {Algorithm::bcast_slots, 2, kAnyRanks, Room::shared, 512 << 10},
    {Algorithm::bcast_slots, 2, 2, Room::any, SIZE_MAX},
    {Algorithm::bcast_slots, 2, kAnyRanks, Room::any, 64 << 10},
    {Algorithm::bcast_single_copy, 2, kAnyRanks, Room::any, SIZE_MAX},
    {Algorithm::bcast_slots, 2, kAnyRanks, Room::any, SIZE_MAX},
    {Algorithm::barrier_flat, 2, kAnyRanks, Room::any, SIZE_MAX},
};

Algorithm chosen_by_rows(Collective collective, std::size_t bytes, const Capabilities& c) {
  for (const Row& row : kRows) {
    const AlgorithmInfo& info = info_of(row.algorithm);
    const Room room = c.oversubscribed ? Room::shared : Room::own;
    if (info.collective == collective && c.ranks >= row.least_ranks && c.ranks <= row.most_ranks &&
        (row.room == Room::any || row.room == room) && bytes <= row.most_bytes &&
        (info.needs != Needs::single_copy || c.reach != Reach::none)) {
      return row.algorithm;
    }
  }
  return Algorithm::native;
}

// If the program's threads have processors of their own, they share the work of single copy.
TEST(ChoiceTable, SingleCopyBetweenTwoRanksIsForThoseWithThreads) {
  for (int bits = 0; bits < 4; ++bits) {
    Capabilities c = capabilities(2, bits & 1, false);
    c.spare = bits & 2;
    const ChoiceTable choices(kNone, c, "");
    const bool copies = bits == 3;
    EXPECT_EQ(choices.choose(Collective::allreduce, (1 << 20) - 1).algorithm,
              Algorithm::allreduce_flat_slots);
    EXPECT_EQ(choices.choose(Collective::allreduce, 1 << 20).algorithm,
              copies ? Algorithm::allreduce_single_copy : Algorithm::allreduce_flat_slots);
    EXPECT_EQ(choices.choose(Collective::bcast, 1 << 20).algorithm,
              copies ? Algorithm::bcast_single_copy : Algorithm::bcast_slots);
  }
}

// Two ranks copy large data once if that was measured to be fast.
TEST(ChoiceTable, FastAttachIsForLargeDataOfTwoRanks) {
  const auto uses = [](const Capabilities& c, const std::string& name, Collective collective,
                       std::size_t bytes) {
    return name == info_of(ChoiceTable(kNone, c, "").choose(collective, bytes).algorithm).name;
  };
  for (const Attach attach : {Attach::unknown, Attach::fast, Attach::slow}) {
    for (const bool reaches : {false, true}) {
      Capabilities c = capabilities(2, reaches, false);
      c.measured = {Distance::far, attach, Stores::unknown};
      const bool once = attach == Attach::fast && reaches;
      for (const auto& [collective, least, slots] :
           {std::tuple{Collective::allreduce, 128 << 10, "flat_slots"},
            std::tuple{Collective::allgather, 256 << 10, "slots"},
            std::tuple{Collective::bcast, 512 << 10, "slots"},
            std::tuple{Collective::reduce_scatter, 2 << 20, "slots"}}) {
        EXPECT_TRUE(uses(c, slots, collective, static_cast<std::size_t>(least) - 1));
        for (const int bytes : {least, 4 << 20}) {
          EXPECT_TRUE(
              uses(c, once ? "single_copy" : slots, collective, static_cast<std::size_t>(bytes)));
        }
      }
      EXPECT_TRUE(uses(c, "flat_slots", Collective::reduce, 4 << 20));
      // All-to-all goes by single copy from 1 MiB on in any case.
      EXPECT_TRUE(uses(c, "slots", Collective::alltoall, (256 << 10) - 1));
      EXPECT_TRUE(uses(c, once ? "single_copy" : "slots", Collective::alltoall, 256 << 10));
    }
  }
}

// The test checks the choice between lines and slots, for two ranks whose distance is known.
TEST(ChoiceTable, LinesAreForFewBytesOrUnknownDistance) {
  for (const int ranks : {2, 3}) {
    for (const Distance distance : {Distance::unknown, Distance::near, Distance::far}) {
      Capabilities c = capabilities(ranks, false, false);
      c.measured.distance = distance;
      const ChoiceTable choices(kNone, c, "");
      const bool far = ranks == 2 && distance == Distance::far;
      const bool known = ranks == 2 && distance != Distance::unknown;
      for (const std::size_t bytes : {8, 1253, 1254, 2072}) {
        const bool more = bytes > 1253;
        EXPECT_EQ(choices.choose(Collective::reduce, bytes).algorithm,
                  far && more ? Algorithm::reduce_flat_slots : Algorithm::reduce_flat_lines);
        EXPECT_EQ(choices.choose(Collective::allgather, bytes).algorithm,
                  far && more ? Algorithm::allgather_slots : Algorithm::allgather_lines);
        EXPECT_EQ(choices.choose(Collective::bcast, bytes).algorithm,
                  known && more ? Algorithm::bcast_slots : Algorithm::bcast_lines);
      }
    }
  }
}

TEST(ChoiceTable, ChoosesAsTheTableBefore) {
  static_assert(kLinesData == 2072, "rules.toml names it");
  for (int ranks : {2, 3, 8, 16, 17, 100}) {
    for (int bits = 0; bits < 4; ++bits) {
      const Capabilities c = capabilities(ranks, bits & 1, bits & 2);
      const ChoiceTable choices(kNone, c, "");
      for (Collective collective : kAll) {
        for (std::size_t edge :
             {1, 256, 2072, 8 << 10, 32 << 10, 64 << 10, 1 << 20, 4 << 20, 1 << 30}) {
          for (std::size_t bytes : {edge - 1, edge, edge + 1}) {
            EXPECT_EQ(choices.choose(collective, bytes).algorithm,
                      chosen_by_rows(collective, bytes, c))
                << name_of(collective) << " " << ranks << " " << bytes << " " << bits;
          }
        }
      }
    }
  }
}

// Above 512 KiB the copy into slots costs more than the waits of single copy.
TEST(ChoiceTable, OnSharedProcessorsBroadcastsGoThroughSlotsUpTo512K) {
  const ChoiceTable choices(kNone, capabilities(4, true, true), "");
  EXPECT_EQ(choices.choose(Collective::bcast, 512 << 10).algorithm, Algorithm::bcast_slots);
  EXPECT_EQ(choices.choose(Collective::bcast, (512 << 10) + 1).algorithm,
            Algorithm::bcast_single_copy);
}

TEST(ChoiceTable, AmongRanksThatSendMessages) {
  const auto chosen = [](int ranks, Collective collective, std::size_t bytes) {
    return ChoiceTable(kNone, capabilities(ranks, false, false, Over::p2p), "")
        .choose(collective, bytes);
  };
  const Collective allreduce = Collective::allreduce;
  EXPECT_EQ(chosen(2, allreduce, 512 << 10).algorithm, Algorithm::allreduce_recursive_doubling);
  EXPECT_EQ(chosen(2, allreduce, 1 << 24).algorithm, Algorithm::allreduce_rabenseifner);
  EXPECT_EQ(chosen(8, allreduce, 32 << 10).algorithm, Algorithm::allreduce_recursive_doubling);
  EXPECT_EQ(chosen(8, allreduce, 64 << 10).algorithm, Algorithm::allreduce_rabenseifner);
  EXPECT_EQ(chosen(3, allreduce, 64 << 10).algorithm, Algorithm::allreduce_ring);
  EXPECT_EQ(chosen(8, allreduce, 1 << 20).algorithm, Algorithm::allreduce_ring);
  EXPECT_EQ(chosen(8, Collective::bcast, 8 << 10).radix, 4);
  EXPECT_EQ(chosen(8, Collective::bcast, 9 << 10).radix, 2);
  EXPECT_EQ(chosen(8, Collective::bcast, 9 << 10).chunk, 0U);
  EXPECT_EQ(chosen(8, Collective::bcast, 1 << 20).algorithm, Algorithm::bcast_chain);
  EXPECT_EQ(chosen(8, Collective::bcast, 1 << 20).chunk, 64U << 10);
  EXPECT_EQ(chosen(2, Collective::bcast, 1 << 20).algorithm, Algorithm::bcast_knomial);
}

TEST(ChoiceTable, UsersRulesComeFirst) {
  const RuleSet user = rules(rule("shm", "100-200", "flat_slots") +
                             rule("shm", "150-300", "split_slots") + rule("shm", "8K-", "native"));
  const ChoiceTable choices(user, capabilities(4, false, false), "");
  const auto chosen = [&](std::size_t bytes) {
    return choices.choose(Collective::allreduce, bytes).algorithm;
  };
  EXPECT_EQ(chosen(99), Algorithm::allreduce_flat_lines);
  EXPECT_EQ(chosen(100), Algorithm::allreduce_flat_slots);
  EXPECT_EQ(chosen(200), Algorithm::allreduce_flat_slots);
  EXPECT_EQ(chosen(201), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(300), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(301), Algorithm::allreduce_flat_lines);
  EXPECT_EQ(chosen(8191), Algorithm::allreduce_split_slots);
  EXPECT_EQ(chosen(8192), Algorithm::native);
  EXPECT_EQ(chosen(SIZE_MAX), Algorithm::native);
  EXPECT_EQ(choices.range(Collective::allreduce, 100).rule, 0);
  EXPECT_EQ(choices.range(Collective::allreduce, 250).rule, 1);
  const std::int32_t shipped = choices.range(Collective::allreduce, 99).rule - 3;
  ASSERT_GE(shipped, 0);
  EXPECT_EQ(shipped_rules().rules[static_cast<std::size_t>(shipped)].choice.algorithm,
            Algorithm::allreduce_flat_lines);
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
  EXPECT_EQ(chosen(Distance::sibling), Algorithm::allreduce_flat_lines);
  EXPECT_EQ(chosen(Distance::unknown), Algorithm::allreduce_flat_lines);  // the shipped rules
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
  EXPECT_EQ(chosen(Attach::unknown), Algorithm::allreduce_flat_lines);  // the shipped rules
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
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_flat_lines);
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
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_levels);
  c.equal_nodes = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_multi_leader);
}

TEST(ChoiceTable, AllRanksNeedNodesOfAsManyEach) {
  const RuleSet user = rules(rule("levels", "0-", "all_ranks"));
  Capabilities c = capabilities(4, false, false, Over::levels);
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_levels);
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
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_levels);
  c.has_slow = true;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_all_ranks_peers);
  c.as_many_each = false;
  EXPECT_EQ(ChoiceTable(user, c, "").choose(Collective::allreduce, 8).algorithm,
            Algorithm::allreduce_levels);
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
  EXPECT_EQ(without.choose(Collective::bcast, 1 << 20).algorithm, Algorithm::bcast_slots);
  const ChoiceTable sending(kNone, capabilities(2, false, false, Over::p2p), forced);
  EXPECT_EQ(sending.choose(Collective::allreduce, 8).algorithm, Algorithm::allreduce_ring);
}

// The algorithm that replaces a choice can run, and folds in the same order.
TEST(NextChoice, CanRunAndGivesTheSameResult) {
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
            const Choice other = next_choice(kNone, c, info.collective, bytes, chosen);
            if (other.algorithm == Algorithm::native) continue;
            ++found;
            EXPECT_TRUE(eligible(other.algorithm, c, bytes)) << info.name << " " << bytes;
            EXPECT_NE(other.algorithm, chosen.algorithm);
            EXPECT_EQ(info_of(other.algorithm).collective, info.collective);
            EXPECT_EQ(info_of(other.algorithm).order, info_of(chosen.algorithm).order);
            EXPECT_NE(info_of(other.algorithm).order, Order::tree);
            EXPECT_NE(info_of(other.algorithm).needs, Needs::maps);
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
        for (const Collective collective : {Collective::bcast, Collective::reduce}) {
          for (std::size_t bytes = kMostEarly; bytes > 0; bytes -= bytes / 4 + 1) {
            const Choice choice = table.choose(collective, bytes);
            EXPECT_TRUE(lets_go_early(choice.algorithm)) << name_of(choice.algorithm) << bytes;
            const Algorithm other = next_choice(kNone, c, collective, bytes, choice).algorithm;
            EXPECT_TRUE(other == Algorithm::native || lets_go_early(other)) << name_of(other);
          }
        }
      }
    }
  }
}

TEST(NextChoice, BetweenSlotsAndSingleCopyEitherWay) {
  const auto next = [](Attach attach, bool copies, Collective collective, std::size_t bytes) {
    Capabilities c = capabilities(2, copies, false);
    c.measured.attach = attach;
    return next_choice(kNone, c, collective, bytes,
                       ChoiceTable(kNone, c, "").choose(collective, bytes))
        .algorithm;
  };
  EXPECT_EQ(next(Attach::slow, true, Collective::allreduce, 1 << 20),
            Algorithm::allreduce_single_copy);
  EXPECT_EQ(next(Attach::fast, true, Collective::allreduce, 1 << 20),
            Algorithm::allreduce_flat_slots);
  EXPECT_EQ(next(Attach::slow, true, Collective::bcast, 1 << 20), Algorithm::bcast_single_copy);
  EXPECT_EQ(next(Attach::fast, true, Collective::bcast, 1 << 20), Algorithm::bcast_slots);
  EXPECT_EQ(next(Attach::slow, false, Collective::bcast, 1 << 20), Algorithm::native);
  EXPECT_EQ(next(Attach::slow, true, Collective::barrier, 0), Algorithm::native);
}

// Lines have no room for more, and trees fold in another order.
TEST(NextChoice, ReplacesOnlyWhatItMay) {
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

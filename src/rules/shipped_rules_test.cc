// SPDX-License-Identifier: BSD-3-Clause
// The tests check what must hold of the shipped rules, whatever they are tuned to: the rules of all
// programs, and those that `sumac simulate` puts before them.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "rules/choice_table.h"
#include "rules/rules.h"
#include "transport/shm/layout.h"

namespace sumac {
namespace {

// These are the rules that go before the shipped ones, and all of them in the order in which they
// are asked.
struct Shipped {
  RuleSet first;
  std::vector<Rule> all;
  std::string place(std::int32_t rule) const {
    return place_of(rule, first, "simulate/rules.toml");
  }
};

Shipped shipped(const char* file) {
  Shipped result;
  std::string problem;
  EXPECT_TRUE(!*file || read_rules(file, result.first, problem)) << problem;
  result.all = result.first.rules;
  const std::vector<Rule>& last = shipped_rules().rules;
  result.all.insert(result.all.end(), last.begin(), last.end());
  return result;
}

// The table that is compiled in says what the file says.
TEST(CompiledRules, AreThoseOfTheFile) {
  RuleSet read;
  std::string problem;
  ASSERT_TRUE(read_rules(SUMAC_SHIPPED_RULES, read, problem)) << problem;
  for (Rule& rule : read.rules) rule.choice.exact_chunk = false;
  EXPECT_GT(shipped_rules().rules.size(), 30U);
  EXPECT_EQ(shipped_rules().hash, read.hash);
  EXPECT_TRUE(shipped_rules().rules == read.rules);
}

// These values lie on either side of each bound of the rules: between two of them no rule begins or
// ends.
std::set<std::uint64_t> around_bounds(const Shipped& rules, Over over, Span Rule::*span,
                                      std::uint64_t least, std::uint64_t most) {
  std::set<std::uint64_t> values{least, least + 1, most};
  for (const Rule& rule : rules.all) {
    if (rule.over != over) continue;
    for (const std::uint64_t bound : {(rule.*span).low, (rule.*span).high}) {
      for (const std::uint64_t value : {bound - 1, bound, bound + 1}) {
        if (value >= least && value <= most) values.insert(value);
      }
    }
  }
  return values;
}

using Groups = std::vector<Capabilities>;

// Returns each group with each of these values.
template <class Values, class Set>
void vary(Groups& groups, const Values& values, Set set) {
  Groups varied;
  for (const Capabilities& group : groups) {
    for (const auto& value : values) set(varied.emplace_back(group), value);
  }
  groups = std::move(varied);
}

void vary_room(Groups& groups) {
  vary(groups, std::vector{Room::own, Room::shared, Room::spare}, [](Capabilities& c, Room room) {
    c.oversubscribed = room == Room::shared;
    c.spare = room == Room::spare;
  });
}

Groups vary_memory(Groups groups) {
  vary(groups, std::vector{Reach::none, Reach::copies, Reach::maps},
       [](Capabilities& c, Reach reach) { c.reach = reach; });
  vary(groups, std::vector{Distance::unknown, Distance::sibling, Distance::near, Distance::far},
       [](Capabilities& c, Distance distance) { c.measured.distance = distance; });
  vary(groups, std::vector{Attach::unknown, Attach::fast, Attach::slow},
       [](Capabilities& c, Attach attach) { c.measured.attach = attach; });
  Groups within = groups;
  std::erase_if(within, [](const Capabilities& c) { return c.reach != Reach::none; });
  for (Capabilities& c : within) c.within_levels = true;
  groups.insert(groups.end(), within.begin(), within.end());
  return groups;
}

// Returns the communicators that a hierarchy may be of. Those of several nodes may be one group.
Groups vary_levels(const Groups& groups) {
  Groups all;
  for (Capabilities c : groups) {
    c.reach = Reach::copies;
    c.sends = c.nodes > 1;
    all.push_back(c);
    if (!c.sends) continue;
    c.one_group = true;
    all.push_back(c);
    c.as_many_each = true;
    all.push_back(c);
    c.has_slow = true;
    all.push_back(c);
    c.one_group = c.has_slow = false;
    c.equal_nodes = true;
    all.push_back(c);
    c.reach = Reach::none;
    all.push_back(c);
  }
  return all;
}

Groups groups_of(const Shipped& rules, Over over) {
  Groups groups(1);
  groups[0].over = over;
  groups[0].within_levels = over == Over::p2p;
  vary(groups, around_bounds(rules, over, &Rule::ranks, 2, 200),
       [](Capabilities& c, std::uint64_t ranks) { c.ranks = static_cast<int>(ranks); });
  vary_room(groups);
  vary(groups, std::vector{Family::any, Family::openmpi, Family::mpich},
       [](Capabilities& c, Family family) { c.family = family; });
  if (over == Over::shm) return vary_memory(groups);
  vary(groups, around_bounds(rules, over, &Rule::nodes, 1, 300),
       [](Capabilities& c, std::uint64_t nodes) { c.nodes = static_cast<int>(nodes); });
  return over == Over::p2p ? groups : vary_levels(groups);
}

// Returns the calls of a collective that a group of such ranks may be asked for. Over levels a
// barrier is an all-reduce, and ranks that send messages have no all-to-all; a reduction in the
// order of ranks is over one group.
bool is_asked(Collective collective, const Capabilities& c) {
  if (!is_of_ranks(collective)) return false;
  if (c.over == Over::levels && c.in_rank_order && !c.one_group && info_of(collective).reduces) {
    return false;
  }
  for (const AlgorithmInfo& info : kAlgorithmInfos) {
    if (info.collective == collective && over_of(info.needs) == c.over) return true;
  }
  return c.over == Over::levels;
}

struct Call {
  const Capabilities& group;
  Collective collective;
  std::size_t bytes;
  const ChoiceRange& range;
};

std::ostream& operator<<(std::ostream& out, const Call& call) {
  return out << name_of(call.collective) << " of " << call.bytes << " over "
             << name_of(call.group.over) << ", " << call.group.ranks << " ranks, "
             << call.group.nodes << " nodes: " << name_of(call.range.choice.algorithm);
}

class ShippedRules : public testing::TestWithParam<const char*> {
 protected:
  const Shipped rules = shipped(GetParam());

  // For each kind of group and collective, it has a call of each size, in ascending order.
  void for_each_call(const std::function<void(const std::vector<Call>&)>& see) const {
    for (const Over over : {Over::shm, Over::p2p, Over::levels}) {
      const std::set<std::uint64_t> sizes =
          around_bounds(rules, over, &Rule::bytes, 0, std::uint64_t{1} << 30);
      Groups groups = groups_of(rules, over);
      vary(groups, std::vector{false, true},
           [](Capabilities& c, bool asked) { c.in_rank_order = asked; });
      for (const Capabilities& group : groups) see_each(group, sizes, see);
    }
  }

 private:
  void see_each(const Capabilities& group, const std::set<std::uint64_t>& sizes,
                const std::function<void(const std::vector<Call>&)>& see) const {
    const ChoiceTable table(rules.first, group, "");
    for (const CollectiveInfo& info : kCollectives) {
      if (!is_asked(info.collective, group)) continue;
      std::vector<Call> calls;
      for (const std::size_t bytes : sizes) {
        calls.push_back({group, info.collective, bytes, table.range(info.collective, bytes)});
      }
      see(calls);
    }
  }
};

TEST_P(ShippedRules, GiveEveryCallAnAlgorithmThatCanRun) {
  for_each_call([&](const std::vector<Call>& calls) {
    for (const Call& call : calls) {
      const ChoiceRange& range = call.range;
      if (range.rule < 0) ADD_FAILURE() << "no rule for " << call;
      if (!eligible(range.choice.algorithm, call.group, call.bytes)) {
        ADD_FAILURE() << "cannot run: " << call;
      }
      if (range.rule >= 0) {
        const Rule& rule = rules.all[static_cast<std::size_t>(range.rule)];
        if (!rule.bytes.holds(call.bytes) || rule.collective != call.collective) {
          ADD_FAILURE() << rules.place(range.rule) << " is not for " << call;
        }
      }
      if (HasFailure()) return;
    }
  });
}

TEST_P(ShippedRules, AreEachTakenByACall) {
  std::set<std::int32_t> taken;
  for_each_call([&](const std::vector<Call>& calls) {
    for (const Call& call : calls) taken.insert(call.range.rule);
  });
  const std::size_t before = rules.first.rules.size();  // others are taken without these
  const auto end = static_cast<std::int32_t>(before > 0 ? before : rules.all.size());
  for (std::int32_t rule = 0; rule < end; ++rule) {
    EXPECT_TRUE(taken.count(rule)) << rules.place(rule) << ": earlier rules hide it";
  }
}

// A table has room for so many ranges, and leaves out rules for which there is none.
TEST_P(ShippedRules, AllFitIntoTheTable) {
  RuleSet all;
  all.rules = rules.all;
  for (const Over over : {Over::shm, Over::p2p, Over::levels}) {
    for (const Capabilities& group : groups_of(rules, over)) {
      std::vector<Unmet> unmet;
      const ChoiceTable table(all, group, "", &unmet);
      for (const Unmet& each : unmet) {
        ASSERT_EQ(std::string(each.why).find("range of bytes too many"), std::string::npos)
            << rules.place(each.rule) << ", " << group.ranks << " ranks";
      }
    }
  }
}

// An algorithm serves one range of sizes: what is better for more data is not left again.
TEST_P(ShippedRules, NeverGoBackToAnAlgorithmForLargerData) {
  if (!rules.first.rules.empty()) GTEST_SKIP() << "flat is for the least data, and the most";
  const auto way_of = [](const Call& call) {
    return std::pair{call.range.choice.algorithm, call.range.choice.radix};
  };
  for_each_call([&](const std::vector<Call>& calls) {
    std::set<std::pair<Algorithm, std::uint16_t>> left;
    for (std::size_t i = 1; i < calls.size() && !HasFailure(); ++i) {
      if (way_of(calls[i - 1]) != way_of(calls[i])) left.insert(way_of(calls[i - 1]));
      if (left.count(way_of(calls[i]))) {
        ADD_FAILURE() << "again, by " << rules.place(calls[i].range.rule) << ": " << calls[i];
      }
    }
  });
}

// Otherwise the bits of a result would depend on the size of the message.
TEST_P(ShippedRules, FoldInTheOrderOfRanksInSharedMemory) {
  for_each_call([&](const std::vector<Call>& calls) {
    for (const Call& call : calls) {
      if (call.group.over != Over::shm || call.range.choice.algorithm == Algorithm::native) return;
      const Order order = info_of(call.range.choice.algorithm).order;
      if (order != Order::rank && order != Order::none) ADD_FAILURE() << call;
    }
  });
}

TEST_P(ShippedRules, SayHowMuchFitsIntoLines) {
  for (const Rule& rule : rules.all) {
    if (rule.choice.algorithm == Algorithm::native) continue;
    if (info_of(rule.choice.algorithm).needs != Needs::lines) continue;
    EXPECT_LE(rule.bytes.high, kLinesData) << "line " << rule.line;
  }
}

INSTANTIATE_TEST_SUITE_P(, ShippedRules, testing::Values("", SUMAC_SIMULATE_RULES),
                         [](const auto& each) {
                           return std::string(*each.param ? "Simulated" : "Everywhere");
                         });

// Returns the least bytes that are copied once.
std::size_t least_copied_once(const Capabilities& c, Collective collective) {
  const ChoiceTable table(RuleSet{}, c, "");
  for (std::size_t bytes = 1; bytes < std::size_t{1} << 40; bytes += bytes / 8 + 1) {
    const Algorithm algorithm = table.choose(collective, bytes).algorithm;
    if (algorithm != Algorithm::native && needs_single_copy(info_of(algorithm))) return bytes;
  }
  return SIZE_MAX;
}

TEST(ShippedThresholds, CopyOnceNoLaterWhereThreadsShareThat) {
  for (const CollectiveInfo& info : kCollectives) {
    if (!is_of_ranks(info.collective)) continue;
    for (const int ranks : {2, 3, 8, 17}) {
      Capabilities usual;
      usual.ranks = ranks;
      usual.reach = Reach::copies;
      Capabilities spare = usual;
      spare.spare = true;
      const std::size_t least = least_copied_once(usual, info.collective);
      EXPECT_LE(least_copied_once(spare, info.collective), least) << info.name << " " << ranks;
    }
  }
}

}  // namespace
}  // namespace sumac

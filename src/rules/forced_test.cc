// SPDX-License-Identifier: BSD-3-Clause
#include "rules/forced.h"

#include <gtest/gtest.h>

#include "rules/rules.h"
#include "rules/rules_parse.h"
#include "testing/collective_list.h"

namespace sumac {
namespace {

std::string problem_of(const char* forced) {
  std::string problem;
  const bool good = check_forced(forced, problem);
  EXPECT_EQ(good, problem.empty()) << problem;
  return problem;
}

TEST(Forced, WhatIsUnderstood) {
  for (const char* forced : {"", ";", "allreduce:flat_lines;barrier:flat", " bcast : slots ; "}) {
    EXPECT_EQ(problem_of(forced), "") << forced;
  }
  EXPECT_EQ(problem_of(nullptr), "");
  EXPECT_EQ(forced_algorithms("bcast:slots; allreduce:ring"),
            (std::vector{Algorithm::bcast_slots, Algorithm::allreduce_ring}));
  EXPECT_NE(problem_of("allreduce:native"), "");
}

TEST(Forced, WhatIsWrongAndWhatWasMeant) {
  EXPECT_EQ(problem_of("allreduce"), "'allreduce' is not of the form collective:algorithm");
  EXPECT_EQ(
      problem_of("bcast:slots;allreduce:rign")
          .find("allreduce has no algorithm 'rign'; did you mean 'ring'? (known: flat_lines, "),
      0u);
  EXPECT_EQ(
      problem_of("alreduce:ring"),
      "no collective 'alreduce'; did you mean 'allreduce'? (known: " + collective_list(", ") + ")");
  EXPECT_EQ(problem_of("barrier:flat_lines"),
            "barrier has no algorithm 'flat_lines'; (known: flat, two_steps, levels)");
  EXPECT_NE(problem_of("allreduce:"), "");
  EXPECT_NE(problem_of(":"), "");
}

// Every known name, misspelt by one letter, is guessed.
TEST(Forced, EveryNameIsGuessed) {
  for (int a = 0; a < kNumAlgorithms; ++a) {
    const AlgorithmInfo& info = info_of(static_cast<Algorithm>(a));
    const std::string name = info.name, collective = name_of(info.collective);
    EXPECT_EQ(problem_of((collective + ":" + name).c_str()), "");
    const std::string typo = collective + ":" + name.substr(0, 1) + "_" + name.substr(1);
    EXPECT_NE(problem_of(typo.c_str()).find("did you mean '" + name + "'?"), std::string::npos)
        << typo << ": " << problem_of(typo.c_str());
  }
}

std::vector<Capabilities> all_capabilities() {
  std::vector<Capabilities> all;
  for (const Over over : {Over::shm, Over::p2p, Over::levels}) {
    for (int bits = 0; bits < 8; ++bits) {
      Capabilities c;
      c.ranks = 4;
      c.over = over;
      c.reach = bits & 1 ? Reach::copies : Reach::none;
      c.equal_nodes = c.as_many_each = c.sends = bits & 2;
      c.within_levels = bits & 4;
      all.push_back(c);
    }
  }
  return all;
}

// Returns true if any call may get this algorithm.
bool uses(const ChoiceTable& choices, Algorithm algorithm) {
  std::size_t bytes = 0;
  while (true) {
    const ChoiceRange& range = choices.range(info_of(algorithm).collective, bytes);
    if (range.choice.algorithm == algorithm) return true;
    if (range.most == SIZE_MAX) return false;
    bytes = range.most + 1;
  }
}

// Every algorithm on every kind of group runs for all bytes it can serve, or a reason is given.
TEST(Forced, RunsOrIsUnmetWithAReason) {
  int met = 0, unmet_ones = 0;
  for (const Capabilities& c : all_capabilities()) {
    for (int a = 0; a < kNumAlgorithms; ++a) {
      const auto algorithm = static_cast<Algorithm>(a);
      const AlgorithmInfo& info = info_of(algorithm);
      const std::string forced = std::string(name_of(info.collective)) + ":" + info.name;
      std::vector<Unmet> unmet;
      const ChoiceTable choices(RuleSet(), c, forced.c_str(), &unmet);
      const auto chosen = [&](std::size_t bytes) {
        return choices.choose(info.collective, bytes).algorithm;
      };
      if (unmet.empty()) {
        ++met;
        EXPECT_EQ(chosen(0), algorithm) << forced;
        EXPECT_EQ(chosen(most_bytes(algorithm)), algorithm) << forced;
      } else {
        ++unmet_ones;
        ASSERT_EQ(unmet.size(), 1u) << forced;
        EXPECT_EQ(unmet[0].rule, kForced);
        EXPECT_EQ(unmet[0].algorithm, algorithm);
        EXPECT_GT(std::string(unmet[0].why).size(), 10u);
        EXPECT_FALSE(uses(choices, algorithm)) << forced;
      }
    }
  }
  EXPECT_GT(met, 100);
  EXPECT_GT(unmet_ones, 100);
}

RuleSet rules_of(const std::string& text) {
  RuleSet set;
  std::string problem;
  EXPECT_TRUE(parse_rules(text, "test", set, problem)) << problem;
  return set;
}

TEST(Unmet, RulesOfAUserThatCannotRun) {
  const RuleSet user = rules_of(
      "[[rule]]\ncollective=\"bcast\"\nover=\"p2p\"\nalgorithm=\"chain\"\n"
      "[[rule]]\ncollective=\"bcast\"\nover=\"shm\"\nalgorithm=\"single_copy\"\n");
  Capabilities c;
  c.ranks = 2;
  std::vector<Unmet> unmet;
  ChoiceTable without(user, c, "", &unmet);
  ASSERT_EQ(unmet.size(), 1u) << "a rule for other groups is none of theirs";
  EXPECT_EQ(unmet[0].rule, 1);
  c.reach = Reach::copies;
  unmet.clear();
  ChoiceTable with(user, c, "", &unmet);
  EXPECT_TRUE(unmet.empty());
}

TEST(Unmet, RulesThatNeedOneRangeTooMany) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const std::string bytes = std::to_string(2000 * i + 100) + "-" + std::to_string(2000 * i + 200);
    text += "[[rule]]\ncollective=\"bcast\"\nover=\"shm\"\nbytes=\"" + bytes +
            "\"\nalgorithm=\"slots\"\n";
  }
  Capabilities c;
  c.ranks = 2;
  std::vector<Unmet> unmet;
  ChoiceTable choices(rules_of(text), c, "", &unmet);
  EXPECT_FALSE(unmet.empty());
  EXPECT_LT(unmet.size(), 10u);
}

// There are nodes of 2 ranks each, and messages between them. The test checks which group is asked
// for what.
TEST(Parts, OfAHierarchy) {
  Capabilities node, between;
  node.within_levels = between.within_levels = true;
  between.over = Over::p2p;
  const std::vector<AskedGroup> parts = {
      {Collective::reduce, node}, {Collective::bcast, node}, {Collective::allreduce, between}};
  EXPECT_EQ(why_in_no_group(Algorithm::allreduce_ring, parts), nullptr);
  EXPECT_EQ(why_in_no_group(Algorithm::reduce_flat_lines, parts), nullptr);
  EXPECT_NE(why_in_no_group(Algorithm::allreduce_flat_slots, parts), nullptr);
  EXPECT_NE(why_in_no_group(Algorithm::bcast_chain, parts), nullptr);
  EXPECT_NE(why_in_no_group(Algorithm::bcast_single_copy, parts), nullptr);
  EXPECT_NE(why_in_no_group(Algorithm::barrier_flat, parts), nullptr);
}

}  // namespace
}  // namespace sumac

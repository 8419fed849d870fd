// SPDX-License-Identifier: BSD-3-Clause
#include "rules/rules.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "rules/rules_parse.h"
#include "testing/collective_list.h"

namespace sumac {
namespace {

const char kHead[] = "[[rule]]\ncollective = \"allreduce\"\nover = \"p2p\"\n";

std::string problem_of(const std::string& text) {
  RuleSet set;
  set.hash = 7;
  std::string problem;
  if (parse_rules(text, "FILE", set, problem)) return "none";
  EXPECT_EQ(set.hash, 7U) << "touched though refused";
  EXPECT_EQ(problem.find('\n'), std::string::npos);
  return problem;
}

RuleSet good(const std::string& text) {
  RuleSet set;
  std::string problem;
  EXPECT_TRUE(parse_rules(text, "FILE", set, problem)) << problem;
  return set;
}

TEST(Rules, SayWhatTheySay) {
  const RuleSet set = good(
      "[[rule]]\n# a comment\ncollective = 'reduce'\nover = 'levels'\nranks = '2 - 16'\n"
      "nodes = 3\nbytes = '1-64K'\nroom = 'shared'\nalgorithm = 'levels'\nchunk = '4K'\n"
      "[[rule]]\ncollective='bcast'\nover='p2p'\nranks='8-'\nbytes='-1M'\nalgorithm='knomial'\n"
      "radix=64\n"
      "[[rule]]\ncollective='barrier'\nover='shm'\nalgorithm='native'\n");
  ASSERT_EQ(set.rules.size(), 3U);
  const Rule& first = set.rules[0];
  EXPECT_EQ(first.collective, Collective::reduce);
  EXPECT_EQ(first.over, Over::levels);
  EXPECT_EQ(first.room, Room::shared);
  EXPECT_EQ(first.line, 1);
  EXPECT_EQ(first.ranks.low, 2U);
  EXPECT_EQ(first.ranks.high, 16U);
  EXPECT_EQ(first.nodes.low, 3U);
  EXPECT_EQ(first.nodes.high, 3U);
  EXPECT_EQ(first.bytes.low, 1U);
  EXPECT_EQ(first.bytes.high, 64U << 10);
  EXPECT_EQ(first.choice.algorithm, Algorithm::reduce_levels);
  EXPECT_EQ(first.choice.chunk, 4U << 10);
  const Rule& second = set.rules[1];
  EXPECT_EQ(second.line, 11);
  EXPECT_EQ(second.ranks.low, 8U);
  EXPECT_EQ(second.ranks.high, UINT64_MAX);
  EXPECT_EQ(second.bytes.low, 0U);
  EXPECT_EQ(second.bytes.high, 1U << 20);
  EXPECT_EQ(second.choice.radix, 64);
  EXPECT_EQ(set.rules[2].choice.algorithm, Algorithm::native);
}

TEST(Rules, HashIsOfTheContentAlone) {
  const std::string one = std::string(kHead) + "bytes='0-64K'\nalgorithm='ring'\n";
  const std::string same =
      "# text\n\n" + std::string(kHead) + "ranks='-'\nbytes='-65536'\n\nalgorithm='ring'\n";
  const std::string same_without =
      "# text\n\n" + std::string(kHead) + "bytes='-65536'\n\nalgorithm='ring'\n";
  EXPECT_NE(problem_of(same), "none");
  EXPECT_EQ(good(one).hash, good(same_without).hash);
  EXPECT_NE(good(one).hash, good(std::string(kHead) + "algorithm='ring'\n").hash);
  EXPECT_NE(good(one + same_without).hash, good(one).hash);
  EXPECT_EQ(good("").hash, RuleSet{}.hash);
}

TEST(Rules, HandoverIsOneOfTheDistances) {
  const std::string rule = "[[rule]]\ncollective='bcast'\nover='shm'\nalgorithm='slots'\n";
  EXPECT_EQ(good(rule).rules[0].handover, Distance::unknown);
  EXPECT_EQ(good(rule + "handover='any'").rules[0].handover, Distance::unknown);
  EXPECT_EQ(good(rule + "handover='any'").hash, good(rule).hash);
  for (const Distance distance : {Distance::sibling, Distance::near, Distance::far}) {
    const RuleSet set = good(rule + "handover='" + name_of(distance) + "'");
    EXPECT_EQ(set.rules[0].handover, distance);
    EXPECT_NE(set.hash, good(rule).hash);
  }
}

TEST(Rules, AttachIsOneOfTheClasses) {
  const std::string rule = "[[rule]]\ncollective='bcast'\nover='shm'\nalgorithm='slots'\n";
  EXPECT_EQ(good(rule).rules[0].attach, Attach::unknown);
  EXPECT_EQ(good(rule + "attach='any'").hash, good(rule).hash);
  for (const Attach attach : {Attach::fast, Attach::slow}) {
    const RuleSet set = good(rule + "attach='" + name_of(attach) + "'");
    EXPECT_EQ(set.rules[0].attach, attach);
    EXPECT_NE(set.hash, good(rule).hash);
  }
  EXPECT_NE(good(rule + "attach='fast'").hash, good(rule + "attach='slow'").hash);
}

TEST(Rules, ProblemsNameTheFix) {
  const std::string head = kHead;
  const std::string p2p =
      "(known: recursive_doubling, rabenseifner, ring, ordered_all, "
      "ordered_parts)";
  const std::pair<std::string, std::string> cases[] = {
      {head + "algorithm = 'rign'",
       "FILE:4: unknown algorithm 'rign' for allreduce over p2p; did you mean 'ring'? " + p2p},
      {head + "algorithm = 'flat_lines'",
       "FILE:4: 'flat_lines' cannot be chosen for allreduce over p2p: it is over shm; " + p2p},
      {head + "algorithm = 'ring'\nrank = '2'",
       "FILE:5: unknown key 'rank'; did you mean 'ranks'? (known: collective, over, ranks, nodes, "
       "bytes, room, mpi, handover, attach, algorithm, chunk, radix)"},
      {head + "algorithm = 3",
       "FILE:4: 'algorithm' is a number; it must be text in quotation marks"},
      {head + "algorithm = 'ring'\nranks = '9-2'",
       "FILE:5: 'ranks' is '9-2', which begins after its end; write the smaller first"},
      {head + "algorithm = 'ring'\nranks = -3",
       "FILE:5: 'ranks' is '-3', not a range; write text such as \"2-16\", \"3\", \"8-\" or "
       "\"-8\", "
       "or leave it out for any"},
      {head + "algorithm = 'ring'\nranks = ''",
       "FILE:5: 'ranks' is '', not a range; write text such as \"2-16\", \"3\", \"8-\" or \"-8\", "
       "or leave it out for any"},
      {head + "algorithm = 'ring'\nranks = '1K'",
       "FILE:5: 'ranks' is '1K', not a range; write text such as \"2-16\", \"3\", \"8-\" or "
       "\"-8\", "
       "or leave it out for any"},
      {head + "algorithm = 'ring'\nranks = [1, 2]",
       "FILE:5: 'ranks' is an array; it must be text such as \"2-16\", \"3\", \"8-\" or \"-8\""},
      {head + "algorithm = 'ring'\nbytes = '2X'",
       "FILE:5: 'bytes' is '2X', not a range; write text such as \"0-2072\", \"64K-1M\", \"1M-\" "
       "or "
       "\"-32K\", or leave it out for any"},
      {"[[rule]]\ncollective='bcast'\nover='shm'\nalgorithm='slots'\nnodes='2'",
       "FILE:5: 'nodes' is for over = \"levels\" or \"p2p\"; leave it out"},
      {head + "algorithm = 'ring'\nroom = 'sahred'",
       "FILE:5: unknown room 'sahred'; did you mean 'shared'? (known: any, own, shared, spare)"},
      {head + "algorithm = 'ring'\nchunk = '64K'",
       "FILE:5: 'ring' takes no chunk; leave 'chunk' out"},
      {head + "algorithm = 'ring'\nradix = 4", "FILE:5: 'ring' takes no radix; leave 'radix' out"},
      {head + "algorithm = 'recursive_doubling'\nradix = 1",
       "FILE:5: 'radix' is 1; it must be from 2 to 64"},
      {head + "algorithm = 'recursive_doubling'\nradix = 2.5",
       "FILE:5: 'radix' is a number with a fraction; it must be a whole number, such as 4"},
      {head + "algorithm = 'recursive_doubling'\nradix = '4'",
       "FILE:5: 'radix' is text; it must be a whole number, such as 4"},
      {head, "FILE:1: this rule has no 'algorithm'; add it: algorithm = \"...\""},
      {"[[rule]]\ncollective='alreduce'\nover='shm'\nalgorithm='flat'",
       "FILE:2: unknown collective 'alreduce'; did you mean 'allreduce'? (known: " +
           collective_list(", ") + ")"},
      {"[[rule]]\ncollective='reduce'\nover='smh'\nalgorithm='flat'",
       "FILE:3: unknown over 'smh'; did you mean 'shm'? (known: shm, p2p, levels)"},
      {"[[rule]]\ncollective='alltoallv'\nover='shm'\nalgorithm='slots'\nbytes='1M-'",
       "FILE:5: 'bytes' is not for alltoallv, whose ranks have different sizes; leave it out"},
      {"[[rule]]\ncollective='barrier'\nover='p2p'\nalgorithm='flat'",
       "FILE:4: there is nothing to choose for barrier over p2p; leave the rule out"},
      {"[rule]\ncollective='barrier'",
       "FILE:1: 'rule' is a single table; begin each rule with a line [[rule]], in two pairs of "
       "brackets"},
      {"rule = [1]",
       "FILE:1: 'rule' is a list of other things than tables; begin each rule with a line "
       "[[rule]], "
       "in two pairs of brackets"},
      {"\n[[rules]]\ncollective='barrier'",
       "FILE:2: unknown key 'rules' outside of a rule; begin each rule with a line [[rule]]"},
  };
  for (const auto& [text, problem] : cases) EXPECT_EQ(problem_of(text), problem);
}

TEST(Rules, ProblemsOfWhatIsMeasured) {
  const std::string shm = "[[rule]]\ncollective='bcast'\nover='shm'\nalgorithm='slots'\n";
  const std::pair<std::string, std::string> cases[] = {
      {std::string(kHead) + "algorithm = 'ring'\nhandover = 'far'",
       "FILE:5: 'handover' is for over = \"shm\"; leave it out"},
      {std::string(kHead) + "algorithm = 'ring'\nattach = 'fast'",
       "FILE:5: 'attach' is for over = \"shm\"; leave it out"},
      {shm + "attach='cheap'", "FILE:5: unknown attach 'cheap'; (known: any, fast, slow)"},
      {shm + "handover='fra'",
       "FILE:5: unknown handover 'fra'; did you mean 'far'? (known: any, sibling, near, far)"},
      {shm + "handover='unknown'",
       "FILE:5: unknown handover 'unknown'; (known: any, sibling, near, far)"},
      {shm + "handover=430", "FILE:5: 'handover' is a number; it must be text in quotation marks"},
  };
  for (const auto& [text, problem] : cases) EXPECT_EQ(problem_of(text), problem);
}

TEST(Rules, ChunkIsBounded) {
  const std::string head =
      "[[rule]]\ncollective='bcast'\nover='levels'\nalgorithm='levels'\nchunk=";
  for (const char* chunk : {"0", "'0'", "4095", "4097", "'4100'", "'2G'", "-1", "'x'"}) {
    EXPECT_NE(problem_of(head + chunk).find("FILE:5: 'chunk' is"), std::string::npos) << chunk;
  }
  for (const char* chunk : {"4096", "'4K'", "4160", "'1G'"}) {
    EXPECT_EQ(problem_of(head + chunk), "none");
  }
}

TEST(Rules, WhatIsNotTomlIsNamedByLine) {
  for (const char* text : {"\n[[rule]\n", "\na = \"unfinished\n", "\nx\n", "\na = 1 2\n",
                           "\na = \"\xff\"\n", "\n[[[[[[\n", "\n.a = 1\n", "\na. = 1\n"}) {
    EXPECT_EQ(problem_of(text).rfind("FILE:2: not TOML: ", 0), 0U) << problem_of(text);
  }
  EXPECT_NE(problem_of("a = " + std::string(100000, '[')), "none");
  EXPECT_NE(problem_of(std::string("a\0b", 3)), "none");
}

class RulesFile : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void write(const std::string& text) { std::ofstream(path_) << text; }
  std::string problem() {
    RuleSet set;
    std::string problem = "none";
    EXPECT_FALSE(read_rules(path_.c_str(), set, problem));
    return problem;
  }
  std::string path_ = testing::TempDir() + "rules" + std::to_string(getpid()) + ".toml";
};

TEST_F(RulesFile, IsRead) {
  write(std::string(kHead) + "algorithm = 'ring'\n");
  RuleSet set;
  std::string problem;
  ASSERT_TRUE(read_rules(path_.c_str(), set, problem)) << problem;
  EXPECT_EQ(set.rules.size(), 1U);
}

TEST_F(RulesFile, ThatCannotBeReadIsNamed) {
  EXPECT_EQ(problem(), path_ +
                           ": cannot be opened: No such file or directory; name a readable "
                           "TOML file");
  write(std::string(kHead) + "algorithm = 'rong'\n");
  EXPECT_EQ(problem().rfind(path_ + ":4: unknown algorithm 'rong'", 0), 0U);
  write(std::string((1 << 20) + 1, '\n'));
  EXPECT_NE(problem().find("is larger than 1 MiB"), std::string::npos);
  std::remove(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_NE(problem().find("is not a regular file"), std::string::npos);
  std::remove(path_.c_str());
  RuleSet set;
  std::string why;
  EXPECT_FALSE(read_rules("/tmp", set, why));
  EXPECT_EQ(why, "/tmp is a directory; name a TOML file");
}

}  // namespace
}  // namespace sumac

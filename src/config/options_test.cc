// SPDX-License-Identifier: BSD-3-Clause
#include "config/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/algorithm.h"
#include "config/parse.h"

namespace {

constexpr std::uint64_t kAllCollectives = (1u << sumac::kNumCollectives) - 1;
constexpr std::uint64_t kReduceLocal = 1u << static_cast<int>(sumac::Collective::reduce_local);

struct Problem {
  std::string slug, what, fix, instead;
};

struct Reading {
  sumac_options options;
  std::vector<Problem> problems;
  int count;
};

void collect(void* context, const sumac_problem* problem) {
  static_cast<std::vector<Problem>*>(context)->push_back(
      {problem->slug, problem->what, problem->fix, problem->instead});
}

// The environment strings outlive the reading: text options point into them.
Reading read(std::vector<std::string>& environment) {
  std::vector<char*> pointers;
  for (std::string& entry : environment) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  Reading reading;
  reading.count =
      sumac_options_read(&reading.options, pointers.data(), nullptr, collect, &reading.problems);
  return reading;
}

Reading read_one(std::string entry) {
  static std::vector<std::string> environment;
  environment = {std::move(entry)};
  return read(environment);
}

TEST(Options, DefaultsAreValidValuesOfTheirKind) {
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    sumac_value value;
    const sumac_option_row& row = sumac_option_rows[i];
    EXPECT_EQ(sumac_parse_value(&row, row.def, &value), 0) << row.name;
    EXPECT_GT(std::string(row.doc).size(), 10u) << row.name;
  }
}

TEST(Options, EmptyEnvironmentGivesDefaults) {
  sumac_options options;
  EXPECT_EQ(sumac_options_read(&options, nullptr, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(options.disable, 0u);
  EXPECT_EQ(options.debug, uint64_t{SUMAC_DEBUG_WARN});
  EXPECT_STREQ(options.stats, "no");
  EXPECT_EQ(options.colls, kAllCollectives);
  EXPECT_STREQ(options.algo, "");
  EXPECT_EQ(options.shm_budget, uint64_t{64} << 20);
  EXPECT_EQ(options.build_after, 2u);
  EXPECT_EQ(options.known_after, 128u);
  EXPECT_EQ(options.hang_seconds, 60u);
}

TEST(Options, EnvironmentOverrides) {
  std::vector<std::string> environment = {
      "PATH=/bin",      "SUMAC_DISABLE=1",      "SUMAC_DEBUG=INFO",   "SUMAC_STATS=run.json",
      "SUMAC_CMA=off",  "SUMAC_SHM_BUDGET=8m",  "SUMAC_SPIN=1000000", "SUMAC_ALGO=bcast:slots",
      "SUMAC_SPIN=999", "SUMAC_BUILD_AFTER=10", "SUMAC_DEVICE="};
  const Reading reading = read(environment);
  EXPECT_EQ(reading.count, 0);
  EXPECT_EQ(reading.options.disable, 1u);
  EXPECT_EQ(reading.options.debug, uint64_t{SUMAC_DEBUG_INFO});
  EXPECT_STREQ(reading.options.stats, "run.json");
  EXPECT_EQ(reading.options.cma, 1u);
  EXPECT_EQ(reading.options.shm_budget, uint64_t{8} << 20);
  EXPECT_EQ(reading.options.spin, 1000000u) << "the first of two, as getenv";
  EXPECT_STREQ(reading.options.algo, "bcast:slots");
  EXPECT_EQ(reading.options.build_after, 10u);
  EXPECT_EQ(reading.options.device, 0u) << "empty counts as unset";
}

TEST(Options, CollectivesAreAMask) {
  const std::vector<std::pair<std::string, uint64_t>> cases = {
      {"all", kAllCollectives},
      {"allreduce", 0x01},
      {"bcast,allreduce", 0x05},
      {"^bcast", kAllCollectives - 0x04},
      {"^bcast,^all", 0},
      {"all,^reduce_local", kAllCollectives - kReduceLocal},
      {"^allreduce,bcast", kAllCollectives - 0x01}};
  for (const auto& [text, mask] : cases) {
    const Reading reading = read_one("SUMAC_COLLS=" + text);
    EXPECT_EQ(reading.count, 0) << text;
    EXPECT_EQ(reading.options.colls, mask) << text;
  }
}

TEST(Options, BadValuesKeepTheDefaultAndAreReported) {
  const std::vector<std::string> bad = {
      "DISABLE=2",       "DEBUG=loud",       "COLLS=scatter",
      "COLLS=bcast,",    "COLLS=^",          "CMA=maybe",
      "CMA=aut",         "SHM_BUDGET=0",     "SHM_BUDGET=K",
      "SHM_BUDGET=1KB",  "SHM_BUDGET=-1",    "BUILD_AFTER=0",
      "SPIN=1000001",    "SPIN=1e3",         "SPIN= 1",
      "HANG_SECONDS=-1", "DEVICE=auto|host", "SPIN=99999999999999999999"};
  const Reading defaults = read_one("PATH=/bin");
  for (const std::string& text : bad) {
    const Reading reading = read_one("SUMAC_" + text);
    ASSERT_EQ(reading.count, 1) << text;
    ASSERT_EQ(reading.problems.size(), 1u) << text;
    EXPECT_EQ(reading.problems[0].slug, "bad-value") << text;
    EXPECT_EQ(reading.problems[0].what.rfind("SUMAC_" + text + " is not ", 0), 0u)
        << reading.problems[0].what;
    EXPECT_EQ(sumac_options_hash(&reading.options), sumac_options_hash(&defaults.options)) << text;
  }
}

// Returns values that no option of a kind accepts. Empty values count as unset, so they are not
// among them.
std::vector<std::string> bad_values(const sumac_option_row& row) {
  const std::string kind = row.kind;
  const std::vector<std::string> numbers = {
      "1x", "x1", "-1", "+1", "1.5", "1e3", " 1", "1 ", "0x10", "99999999999999999999999", "?"};
  if (kind == "flag") return {"2", "-1", "maybe", "yess", "01", " 1", "1 ", "yes,no"};
  if (kind == "count" || kind == "bytes" || kind == "limit") return numbers;
  if (kind == "choice") return {"nonsense", "-1", "7", "auto,auto", "auto|off", " auto"};
  if (kind == "colls") return {"nonsense", "all,", ",", "^", "bcast,scatter", "1", "^x", "bcast,,"};
  if (kind == "path") return {"yes", "ON", "true", "1"};
  if (kind == "report") return {"yess", "2", "all,", "all,yes", "json", "all;x", "alles"};
  return {};
}

std::string text_of(std::uint64_t number) { return std::to_string(number); }
std::string text_of(const char* text) { return text; }

// Returns all values, one after the other.
std::string text_of(const sumac_options& options) {
  std::string text;
#define SUMAC_OPTION(NAME, field, kind, def, choices, agreed, doc) \
  text += text_of(options.field) + " ";
#include "config/options.def"
#undef SUMAC_OPTION
  return text;
}

// The sweep sets every option to every kind of bad value. Each gives one problem, and all options
// are as they are without any variable.
TEST(Options, EveryBadValueOfEveryOptionGivesTheDefaultAndOneProblem) {
  const std::string defaults = text_of(read_one("PATH=/bin").options);
  for (size_t i = 0; i < sumac_num_options_and_hooks; ++i) {
    const sumac_option_row& row = sumac_option_rows[i];
    // The code that understands a text judges it.
    const bool judged_later = std::string(row.kind) == "text";
    EXPECT_EQ(bad_values(row).empty(), judged_later) << row.name << " of kind " << row.kind;
    for (const std::string& bad : bad_values(row)) {
      const std::string setting = std::string("SUMAC_") + row.name + "=" + bad;
      const Reading reading = read_one(setting);
      ASSERT_EQ(reading.count, 1) << setting;
      ASSERT_EQ(reading.problems.size(), 1u) << setting;
      EXPECT_EQ(reading.problems[0].slug, "bad-value") << setting;
      EXPECT_EQ(reading.problems[0].what.rfind(setting + " is not ", 0), 0u) << setting;
      EXPECT_NE(reading.problems[0].instead, "") << setting;
      EXPECT_EQ(text_of(reading.options), defaults) << setting;
    }
    const Reading empty = read_one(std::string("SUMAC_") + row.name + "=");
    EXPECT_EQ(empty.count, 0) << row.name;
    EXPECT_EQ(text_of(empty.options), defaults) << row.name;
  }
}

// Every option that can be switched off or on accepts every name of no and yes.
TEST(Options, NamesOfYesAndNo) {
  const std::vector<std::string> yes = {"1", "yes", "on", "true", "YES", "On", "y"};
  const std::vector<std::string> no = {"0", "no", "off", "false", "NO", "Off", "n"};
  const auto number = [](const std::string& name, const std::string& word) {
    const Reading reading = read_one("SUMAC_" + name + "=" + word);
    EXPECT_EQ(reading.count, 0) << name << "=" << word;
    return reading.options;
  };
  for (const std::string& word : yes) {
    EXPECT_EQ(number("DISABLE", word).disable, 1u) << word;
    EXPECT_EQ(number("OWN_REGIONS", word).own_regions, 1u) << word;
    EXPECT_EQ(number("CMA", word).cma, 0u) << word;
    EXPECT_EQ(number("PROGRESS", word).progress, 0u) << word;
    EXPECT_EQ(number("DEBUG", word).debug, uint64_t{SUMAC_DEBUG_INFO}) << word;
    EXPECT_EQ(number("THREADS", word).threads, word == "1" ? 1u : 0u) << word;
    EXPECT_STREQ(number("STATS", word).stats, word.c_str());
  }
  for (const std::string& word : no) {
    EXPECT_EQ(number("DISABLE", word).disable, 0u) << word;
    EXPECT_EQ(number("OWN_REGIONS", word).own_regions, 0u) << word;
    EXPECT_EQ(number("CMA", word).cma, 1u) << word;
    EXPECT_EQ(number("PROGRESS", word).progress, 2u) << word;
    EXPECT_EQ(number("DEBUG", word).debug, uint64_t{SUMAC_DEBUG_OFF}) << word;
    EXPECT_EQ(number("THREADS", word).threads, 1u) << word;
    EXPECT_STREQ(number("RULES", word).rules, "") << word;
    EXPECT_STREQ(number("TRACE", word).trace, "") << word;
  }
  EXPECT_EQ(number("THREADS", "7").threads, 7u);
  EXPECT_EQ(number("DEVICE", "no").device, 2u);
  EXPECT_EQ(read_one("SUMAC_SHM_CONTROL=yes").count, 1) << "slot|slab|staggered has no off";
}

TEST(Options, ReportsAreWordsOrFiles) {
  struct Case {
    const char* text;
    int wanted, all_ranks;
    const char* file;
  };
  for (const Case& c :
       {Case{"yes", 1, 0, nullptr}, Case{"0", 0, 0, nullptr}, Case{"ALL", 1, 1, nullptr},
        Case{"run.json", 1, 0, "run.json"}, Case{"./yes", 1, 0, "./yes"},
        Case{"all,/tmp/x", 1, 1, "/tmp/x"}, Case{"all.json", 1, 0, "all.json"}}) {
    sumac_report report;
    ASSERT_EQ(sumac_parse_report(c.text, &report), 0) << c.text;
    EXPECT_EQ(report.wanted, c.wanted) << c.text;
    EXPECT_EQ(report.all_ranks, c.all_ranks) << c.text;
    EXPECT_STREQ(report.file, c.file) << c.text;
  }
}

TEST(Options, ChecksAreAList) {
  struct Case {
    const char* text;
    int calls;
    std::uint64_t results;
    int ends = 0;
    const char* folder = ".";
  };
  for (const Case& c :
       {Case{"calls", 1, 0}, Case{"results", 0, 1}, Case{"results:1/100", 0, 100},
        Case{"calls,results:1/7", 1, 7}, Case{"results,calls", 1, 1}, Case{"off", 0, 0},
        Case{"0", 0, 0}, Case{"yes", 1, 1}, Case{"results,end", 0, 1, 1},
        Case{"results,dir:/tmp/a,b", 0, 1, 0, "/tmp/a,b"}, Case{"dir:x", 0, 0, 0, "x"},
        Case{"end,calls,results:1/3,dir:no", 1, 3, 1, ""}}) {
    sumac_check check;
    ASSERT_EQ(sumac_parse_check(c.text, &check), 0) << c.text;
    EXPECT_EQ(check.calls, c.calls) << c.text;
    EXPECT_EQ(check.results, c.results) << c.text;
    EXPECT_EQ(check.ends, c.ends) << c.text;
    EXPECT_STREQ(check.folder, c.folder) << c.text;
  }
  for (const char* text : {"result", "calls,", ",calls", "results:1/0", "results:2", "results:1/",
                           "results:1/x", "calls results", "all", "ends", "dir", "dir:yes"}) {
    sumac_check check{3, 4, 0, ""};
    EXPECT_EQ(sumac_parse_check(text, &check), -1) << text;
    EXPECT_EQ(check.results, 4u) << text;
  }
}

TEST(Options, ATextRefusedLaterGetsItsDefault) {
  Reading reading = read_one("SUMAC_HIERARCHY=numaa");
  sumac_options_refuse(&reading.options, nullptr, "HIERARCHY", "unknown level 'numaa'",
                       "see the list", collect, &reading.problems);
  ASSERT_EQ(reading.problems.size(), 1u);
  EXPECT_EQ(reading.problems[0].what, "SUMAC_HIERARCHY=numaa: unknown level 'numaa'");
  EXPECT_EQ(reading.problems[0].instead, "using the default, auto");
  EXPECT_STREQ(reading.options.hierarchy, "auto");
}

TEST(Options, MessagesSayWhatAndHowToRepair) {
  const Problem choice = read_one("SUMAC_CMA=maybe").problems.at(0);
  EXPECT_EQ(choice.what, "SUMAC_CMA=maybe is not one of auto, off");
  EXPECT_EQ(choice.fix, "unset it (the default is 'auto'), or choose one of auto, off");
  const Problem count = read_one("SUMAC_BUILD_AFTER=0").problems.at(0);
  EXPECT_EQ(count.what, "SUMAC_BUILD_AFTER=0 is not a whole number from 1 to 1000000");
}

TEST(Options, UnknownNamesGetTheNearest) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SPINN", "SUMAC_SPIN"},
      {"DEBGU", "SUMAC_DEBUG"},
      {"STAT", "SUMAC_STATS"},
      {"ALGOS", "SUMAC_ALGO"},
      {"HANGSECONDS", "SUMAC_HANG_SECONDS"},
      {"spin", "SUMAC_SPIN"},
      {"SHM_BUGDET", "SUMAC_SHM_BUDGET"}};
  for (const auto& [name, nearest] : cases) {
    const Reading reading = read_one("SUMAC_" + name + "=1");
    ASSERT_EQ(reading.count, 1) << name;
    EXPECT_EQ(reading.problems[0].slug, "unknown-option");
    EXPECT_EQ(reading.problems[0].what, "SUMAC_" + name + " is not an option");
    EXPECT_EQ(reading.problems[0].fix, "did you mean " + nearest + "?");
  }
  const Problem far = read_one("SUMAC_QUUX_FROBNICATE=1").problems.at(0);
  EXPECT_EQ(far.fix.find("did you mean"), std::string::npos);
  const Problem long_name = read_one("SUMAC_" + std::string(3000, 'A') + "=1").problems.at(0);
  EXPECT_LT(long_name.what.size(), 200u);
}

// Hooks of tests are read, misspelt names of theirs are noticed, and users are shown none.
TEST(Options, HooksAreNotListed) {
  std::vector<std::string> listed;
  for (size_t i = 0; i < sumac_num_options; ++i) listed.emplace_back(sumac_option_rows[i].name);
  EXPECT_LE(listed.size(), 30u);
  EXPECT_LT(sumac_num_options, sumac_num_options_and_hooks);
  for (size_t i = sumac_num_options; i < sumac_num_options_and_hooks; ++i) {
    EXPECT_EQ(std::find(listed.begin(), listed.end(), sumac_option_rows[i].name), listed.end());
  }
  EXPECT_EQ(read_one("SUMAC_TASK_PRIORITY=7").options.task_priority, 7u);
  EXPECT_EQ(read_one("SUMAC_TASK_PIORITY=7").problems.at(0).fix,
            "did you mean SUMAC_TASK_PRIORITY?");
}

TEST(Options, FormerNamesSayWhatToSetNow) {
  const Problem moved = read_one("SUMAC_CHECK_ACTION=end").problems.at(0);
  EXPECT_EQ(moved.slug, "unknown-option");
  EXPECT_EQ(moved.what, "SUMAC_CHECK_ACTION is not an option");
  EXPECT_EQ(moved.fix, "use SUMAC_CHECK=results,end");
  EXPECT_EQ(read_one("SUMAC_PROMOTE_DEVICES=1").problems.at(0).fix,
            "use SUMAC_PROMOTE=auto+devices");
}

TEST(Options, NamesOfItsOwnAreNoOptions) {
  std::vector<std::string> environment = {"SUMAC_ROOT=/opt", "SUMAC_ACTIVE=1", "SUMAC_TEST_X=1",
                                          "SUMACX=1", "SUMA=2"};
  EXPECT_EQ(read(environment).count, 0);
  environment = {"SUMAC_ROOTS=1"};
  EXPECT_EQ(read(environment).count, 1);
}

uint64_t hash_of(std::string entry) {
  const Reading reading = read_one(std::move(entry));
  return sumac_options_hash(&reading.options);
}

TEST(Options, HashCoversAgreedOptionsAlone) {
  const uint64_t base = hash_of("A=1");
  EXPECT_EQ(base, hash_of("SUMAC_SPIN=7"));
  EXPECT_EQ(base, hash_of("SUMAC_CMA=AUTO"));
  EXPECT_NE(base, hash_of("SUMAC_CMA=off"));
  EXPECT_NE(base, hash_of("SUMAC_ALGO=bcast:slots"));
  EXPECT_NE(base, hash_of("SUMAC_COLLS=^bcast"));
  EXPECT_NE(base, hash_of("SUMAC_NODE_RADIX=4")) << "a hook";
  EXPECT_EQ(base, hash_of("SUMAC_THREADS_MIN=7")) << "a hook";
}

TEST(ParseBytes, NumbersWithUnits) {
  const std::vector<std::pair<const char*, uint64_t>> good = {{"0", 0},
                                                              {"64", 64},
                                                              {"64K", 64 << 10},
                                                              {"1m", 1 << 20},
                                                              {"2G", uint64_t{2} << 30},
                                                              {"0018", 18},
                                                              {"18446744073709551615", UINT64_MAX}};
  for (const auto& [text, expected] : good) {
    uint64_t bytes = 0;
    EXPECT_EQ(sumac_parse_bytes(text, &bytes), 0) << text;
    EXPECT_EQ(bytes, expected) << text;
  }
  for (const char* text : {"", "K", "1T", "1KB", "1 K", "-1", "+1", "1.5M", "18446744073709551616",
                           "17179869184G", "99999999999999999999999999"}) {
    uint64_t bytes = 42;
    EXPECT_EQ(sumac_parse_bytes(text, &bytes), -1) << text;
    EXPECT_EQ(bytes, 42u) << text;
  }
}

}  // namespace

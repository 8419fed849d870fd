// SPDX-License-Identifier: BSD-3-Clause
#include "config/site.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "config/options.h"

namespace {

namespace fs = std::filesystem;

struct Problem {
  std::string slug, what, fix, instead;
};

void collect(void* context, const sumac_problem* problem) {
  static_cast<std::vector<Problem>*>(context)->push_back(
      {problem->slug, problem->what, problem->fix, problem->instead});
}

// A site of two files in a folder of its own, and an environment.
class Site : public testing::Test {
 protected:
  Site() {
    std::string pattern = (fs::temp_directory_path() / "sumac-site-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fs::create_directories(folder_ / "prefix/lib");
    fs::create_directories(folder_ / "prefix/etc");
  }
  ~Site() override { fs::remove_all(folder_); }

  std::string system_file() const { return folder_ / "system.conf"; }
  std::string prefix_file() const { return folder_ / "prefix/etc/sumac.conf"; }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  void read(std::vector<std::string> environment = {}) {
    environment_ = std::move(environment);
    std::vector<char*> pointers;
    for (std::string& entry : environment_) pointers.push_back(entry.data());
    pointers.push_back(nullptr);
    problems_.clear();
    sumac_site_read(site_.get(), system_file().c_str(), (folder_ / library_folder_).c_str());
    const int count =
        sumac_options_read(&options_, pointers.data(), site_.get(), collect, &problems_);
    EXPECT_EQ(static_cast<std::size_t>(count), problems_.size());
  }

  void read_file(const std::string& text, std::vector<std::string> environment = {}) {
    write(system_file(), text);
    read(std::move(environment));
  }

  // The place and the text of the only problem.
  void expect_problem(const std::string& slug, const std::string& what) {
    ASSERT_EQ(problems_.size(), 1u) << what;
    EXPECT_EQ(problems_[0].slug, slug);
    EXPECT_EQ(problems_[0].what.rfind(what, 0), 0u) << problems_[0].what;
    EXPECT_FALSE(problems_[0].fix.empty());
    EXPECT_FALSE(problems_[0].instead.empty());
  }

  fs::path folder_;
  fs::path library_folder_ = "prefix/lib";
  std::unique_ptr<sumac_site> site_ = std::make_unique<sumac_site>();
  std::vector<std::string> environment_;
  std::vector<Problem> problems_;
  sumac_options options_{};
};

std::uint64_t default_hash() {
  sumac_options options;
  sumac_options_read(&options, nullptr, nullptr, nullptr, nullptr);
  return sumac_options_hash(&options);
}

TEST_F(Site, NoFilesGiveTheDefaults) {
  read();
  EXPECT_EQ(site_->count, 0u);
  EXPECT_TRUE(problems_.empty());
  EXPECT_EQ(sumac_options_hash(&options_), default_hash());
  library_folder_ = "none/lib";
  read();
  EXPECT_TRUE(problems_.empty());
  sumac_site_read(site_.get(), (folder_ / "none").c_str(), nullptr);
  EXPECT_EQ(site_->count, 0u);
}

// Every spelling of a line gives the same value.
TEST_F(Site, LinesInTheFormOfInfoOptions) {
  for (const char* line :
       {"SHM_BUDGET=8M", "shm_budget = 8M", "SUMAC_SHM_BUDGET=8M", "export SUMAC_SHM_BUDGET=8M",
        "  export\tSUMAC_SHM_BUDGET='8M'", "sumac_shm_budget = \"8M\"  ", "SHM_BUDGET=8M # why",
        "SHM_BUDGET=8M\r", "# SHM_BUDGET=9M\n\n \nSHM_BUDGET=8M", "SHM_BUDGET=9M\nSHM_BUDGET=8M",
        "SHM_BUDGET=\\8M", "SHM_BUDGET=8'M'", "SHM_BUDGET=8'M' #"}) {
    for (const char* end : {"", "\n", "\n\n# SHM_BUDGET=1M"}) {
      read_file(std::string(line) + end);
      EXPECT_EQ(options_.shm_budget, std::uint64_t{8} << 20) << line;
      EXPECT_TRUE(problems_.empty()) << line;
    }
  }
}

TEST_F(Site, TextsKeepWhatIsQuoted) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"allreduce:flat_slots;bcast:slots", "allreduce:flat_slots;bcast:slots"},
      {"a b  c   # d", "a b  c"},
      {"a#b", "a#b"},
      {"'# a'", "# a"},
      {"' a '", " a "},
      {"'a'\\''b'", "a'b"},
      {"\"a 'b'\"", "a 'b'"},
      {"# nothing", ""},
      {"''", ""}};
  for (const auto& [written, value] : cases) {
    read_file("ALGO = " + written);
    EXPECT_EQ(options_.algo, value) << written;
    EXPECT_TRUE(problems_.empty()) << written;
  }
}

TEST_F(Site, EnvironmentThenPrefixThenSystem) {
  write(system_file(), "SPIN=1\nHANG_SECONDS=1\nPROFILE_CALLS=1\n");
  write(prefix_file(), "SPIN=2\nHANG_SECONDS=2\n");
  read({"SUMAC_SPIN=3", "SUMAC_HANG_SECONDS="});
  EXPECT_TRUE(problems_.empty());
  EXPECT_EQ(options_.spin, 3u);
  EXPECT_EQ(options_.hang_seconds, 2u) << "empty counts as unset";
  EXPECT_EQ(options_.profile_calls, 1u);
  const sumac_setting setting = sumac_site_setting(site_.get(), "HANG_SECONDS", "");
  EXPECT_EQ(setting.entry->file, prefix_file());
  EXPECT_EQ(setting.entry->line, 2);
  // An empty value in the prefix takes the system's away.
  write(prefix_file(), "SPIN=\n");
  read();
  EXPECT_EQ(options_.spin, 0u);
}

TEST_F(Site, ThePrefixIsAboveTheLibrary) {
  write(prefix_file(), "SPIN=7\n");
  for (const char* folder :
       {"prefix/lib", "prefix/lib64", "prefix/lib/x86_64-linux-gnu", "prefix/lib/sumac"}) {
    library_folder_ = folder;
    read();
    EXPECT_EQ(options_.spin, 7u) << folder;
  }
  for (const char* folder : {"prefix/deep", "prefix/deep/er", "prefix/lib/x/y", "."}) {
    library_folder_ = folder;
    read();
    EXPECT_EQ(options_.spin, 0u) << folder;
  }
}

TEST_F(Site, DisableInEitherFileWins) {
  for (const char* yes : {"disable = yes", "DISABLE=1", "export SUMAC_DISABLE=on"}) {
    for (const bool in_system : {true, false}) {
      write(system_file(), in_system ? yes : "disable = no");
      write(prefix_file(), in_system ? "disable = no" : yes);
      read();
      EXPECT_EQ(options_.disable, 1u) << yes;
      EXPECT_TRUE(problems_.empty());
      read({"SUMAC_DISABLE=1"});
      EXPECT_TRUE(problems_.empty());
      read({"SUMAC_DISABLE=no"});
      EXPECT_EQ(options_.disable, 1u) << yes;
      expect_problem("locked-option", "SUMAC_DISABLE=no: the site has fixed this option (" +
                                          (in_system ? system_file() : prefix_file()) + ":1)");
    }
  }
  write(system_file(), "disable = no\n");
  write(prefix_file(), "");
  read({"SUMAC_DISABLE=yes"});
  EXPECT_EQ(options_.disable, 1u);
  EXPECT_TRUE(problems_.empty());
}

TEST_F(Site, ALockTakesDisableFromUsersWhateverTheFilesSay) {
  for (const char* no : {"disable = no", ""}) {
    write(system_file(), std::string(no) + "\nlocked = disable\n");
    read({"SUMAC_DISABLE=yes"});
    EXPECT_EQ(options_.disable, 0u) << no;
    expect_problem("locked-option",
                   "SUMAC_DISABLE=yes: the site has fixed this option (" + system_file() + ":2)");
  }
}

TEST_F(Site, LockedOptionsKeepTheSitesValue) {
  for (const char* locked : {"locked = SHM_BUDGET CMA", "LOCKED=cma,shm_budget",
                             "export SUMAC_LOCKED='SUMAC_CMA, SUMAC_SHM_BUDGET'"}) {
    write(system_file(), std::string("CMA=off\n") + locked + "\n");
    write(prefix_file(), "SPIN=9\n");
    read({"SUMAC_CMA=auto", "SUMAC_SHM_BUDGET=65536K", "SUMAC_SPIN=5"});
    EXPECT_EQ(options_.cma, 1u) << locked;
    EXPECT_EQ(options_.spin, 5u) << "not locked";
    expect_problem("locked-option",
                   "SUMAC_CMA=auto: the site has fixed this option (" + system_file() + ":2)");
    EXPECT_EQ(problems_[0].instead, "using the site's value, off");
    // The default is the site's value of what it locks without setting it.
    read({"SUMAC_SHM_BUDGET=1M", "SUMAC_CMA=no"});
    EXPECT_EQ(options_.shm_budget, std::uint64_t{64} << 20);
    expect_problem("locked-option", "SUMAC_SHM_BUDGET=1M: ");
    EXPECT_EQ(problems_[0].instead, "using the site's value, 64M");
  }
  // The locks of both files count, with the value of the file that goes first.
  write(system_file(), "RULES=/site/rules.toml\nlocked = RULES\n");
  write(prefix_file(), "RULES=/prefix/rules.toml\nlocked = CMA\n");
  read({"SUMAC_RULES=/prefix/rules.toml", "SUMAC_CMA=off"});
  EXPECT_STREQ(options_.rules, "/prefix/rules.toml");
  expect_problem("locked-option", "SUMAC_CMA=off: ");
}

TEST_F(Site, BadLinesAreReportedAndTheRestCounts) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nonsense", "the line is not NAME = value"},
      {"= 5", "the line is not NAME = value"},
      {"CMA off", "the line is not NAME = value"},
      {"[section]", "the line is not NAME = value"},
      {"unset SUMAC_CMA", "the line is not NAME = value"},
      {"\xc3\xa4=1", "the line is not NAME = value"},
      {"ALGO='bcast", "a quote is not closed"},
      {"CMA=maybe", "CMA=maybe is not one of auto, off"},
      {"SPIN=-1", "SPIN=-1 is not a whole number from 0 to 1000000"},
      {"SPINN=1", "SPINN is not an option"},
      {"CHECK_DIR=/x", "CHECK_DIR is not an option"},
      {"locked = CMA SPINN", "SPINN is not an option"},
      {std::string(5000, 'x'), "the line is too long"}};
  for (const auto& [line, what] : cases) {
    read_file("HANG_SECONDS=5\n" + line + "\nPROFILE_CALLS=6\n");
    expect_problem("site-file", system_file() + ":2: " + what);
    EXPECT_EQ(options_.hang_seconds, 5u) << line;
    EXPECT_EQ(options_.profile_calls, 6u) << line;
    EXPECT_EQ(options_.spin, 0u) << line;
    EXPECT_EQ(sumac_options_hash(&options_), default_hash()) << line;
  }
  read_file("SPINN=1");
  EXPECT_EQ(problems_.at(0).fix, "did you mean SUMAC_SPIN?");
}

TEST_F(Site, FilesThatCannotBeReadAreReported) {
  fs::create_directory(system_file());
  read();
  expect_problem("site-file", system_file() + ": it cannot be read");
  fs::remove(system_file());
  ASSERT_EQ(mkfifo(system_file().c_str(), 0600), 0);
  read();  // and does not wait for a writer
  expect_problem("site-file", system_file() + ": it cannot be read");
}

TEST_F(Site, FilesOfAnyLengthEnd) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "SPIN=" + std::to_string(i) + "\n";
  read_file(many);
  expect_problem("site-file", system_file() + ":64: more settings than Sumac reads");
  EXPECT_EQ(options_.spin, 62u);
  read_file(std::string(1 << 20, '\n') + "SPIN=8");
  EXPECT_EQ(options_.spin, 8u);
  std::string long_texts;
  for (int i = 0; i < 20; ++i) long_texts += "ALGO=" + std::string(900, 'a') + "\n";
  read_file(long_texts);
  EXPECT_EQ(problems_.back().slug, "site-file");
  EXPECT_NE(problems_.back().what.find("more settings"), std::string::npos);
}

// Ranks that read different files must notice it.
TEST_F(Site, ValuesTakePartInTheAgreement) {
  read_file("CMA=off\n");
  const std::uint64_t hash = sumac_options_hash(&options_);
  EXPECT_NE(hash, default_hash());
  char text[256];
  sumac_options_text(&options_, text, sizeof text);
  EXPECT_STREQ(text, "CMA=off");
  fs::remove(system_file());
  read({"SUMAC_CMA=off"});
  EXPECT_EQ(sumac_options_hash(&options_), hash) << "the same from the environment";
}

TEST_F(Site, ATextRefusedLaterNamesItsLine) {
  read_file("\nHIERARCHY=numaa\n");
  sumac_options_refuse(&options_, site_.get(), "HIERARCHY", "unknown level 'numaa'", "", collect,
                       &problems_);
  expect_problem("site-file", system_file() + ":2: HIERARCHY=numaa: unknown level 'numaa'");
  EXPECT_STREQ(options_.hierarchy, "auto");
}

}  // namespace

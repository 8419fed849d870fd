// SPDX-License-Identifier: BSD-3-Clause
#include "observe/recording_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/cpu.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

class RecordedFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "recording-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/rank-3.profile"; }
  std::string content() const {
    std::ostringstream all;
    all << std::ifstream(path()).rdbuf();
    return all.str();
  }

  std::string folder_;
};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

TEST_F(RecordedFile, SectionsInOrder) {
  RecordingFile file;
  ASSERT_TRUE(file.open(folder_, Recording::profile, 3));
  file.add("{\"kind\": 1}");
  file.add(ProfiledCall{1, 0, 10, 20, 30, 60});
  EXPECT_EQ(content(), "");
  ASSERT_TRUE(file.flush());
  const std::string first = content();
  EXPECT_EQ(first.substr(0, 4), "text");
  EXPECT_EQ(number_at(first, 4), 12u);
  EXPECT_EQ(first.substr(8, 12), "{\"kind\": 1}\n");
  EXPECT_EQ(first.substr(20, 4), "call");
  EXPECT_EQ(number_at(first, 24), sizeof(ProfiledCall));
  ASSERT_EQ(first.size(), 28 + sizeof(ProfiledCall));
  ASSERT_TRUE(file.flush());
  EXPECT_EQ(content(), first);
  file.add(ProfiledCall{});
  ASSERT_TRUE(file.flush());
  EXPECT_EQ(content().size(), first.size() + 8 + sizeof(ProfiledCall));
}

// Records of several kinds go into sections of their own, which follow the text that defines them.
TEST_F(RecordedFile, ASectionForEachKindOfRecords) {
  RecordingFile file;
  ASSERT_TRUE(file.open(folder_, Recording::profile, 3));
  file.add(TracedPiece{});
  file.add(TracedOperation{});
  file.add(TracedPiece{});
  file.add("{}");
  ASSERT_TRUE(file.flush());
  const std::string all = content();
  EXPECT_EQ(all.substr(0, 4), "text");
  EXPECT_EQ(all.substr(8 + 3, 4), "piec");
  EXPECT_EQ(number_at(all, 8 + 3 + 4), 2 * sizeof(TracedPiece));
  EXPECT_EQ(all.substr(8 + 3 + 8 + 2 * sizeof(TracedPiece), 4), "oper");
}

TEST_F(RecordedFile, IsNamedAfterWhatItIsOf) {
  RecordingFile file;
  ASSERT_TRUE(file.open(folder_, Recording::trace, 3));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/rank-3.trace"));
}

TEST_F(RecordedFile, IsDueByCallsTextAndTime) {
  RecordingFile file;
  ASSERT_TRUE(file.open(folder_, Recording::profile, 3));
  const std::uint64_t now = clock_ns();
  EXPECT_FALSE(file.is_due(now));
  EXPECT_TRUE(file.is_due(now + 10'000'000'000));
  RecordingFile closed;
  EXPECT_FALSE(closed.is_due(now + 10'000'000'000));
  int added = 0;
  for (; added < 1'000'000 && !file.is_due(now); ++added) file.add(ProfiledCall{});
  EXPECT_LT(added, 1'000'000);
  ASSERT_TRUE(file.flush());
  file.add(std::string(1 << 20, 'x'));
  EXPECT_TRUE(file.is_due(clock_ns()));
}

TEST_F(RecordedFile, IsTheOwnersAndNeverAnothers) {
  RecordingFile file, second;
  ASSERT_TRUE(file.open(folder_, Recording::profile, 3));
  struct stat about;
  ASSERT_EQ(stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_FALSE(second.open(folder_, Recording::profile, 3));
  EXPECT_EQ(errno, EEXIST);
  std::filesystem::create_symlink(folder_ + "/elsewhere", folder_ + "/rank-4.profile");
  EXPECT_FALSE(second.open(folder_, Recording::profile, 4));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/elsewhere"));
}

TEST_F(RecordedFile, AFullDiscEndsItWithWhatWasWritten) {
  RecordingFile file;
  ASSERT_TRUE(file.open(folder_, Recording::profile, 3));
  file.add("{\"kind\": 1}");
  ASSERT_TRUE(file.flush());
  const std::string before = content();
  rlimit old{}, small{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = before.size() + 10;
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  file.add("{\"kind\": 2, \"more\": \"text\"}");
  const bool flushed = file.flush();
  const int error = errno;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  EXPECT_FALSE(flushed);
  EXPECT_EQ(error, EFBIG);
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(content().substr(0, before.size()), before);
  file.add("{}");
  EXPECT_TRUE(file.flush());  // there is nothing to write
}

TEST_F(RecordedFile, FoldersThatCannotBeUsed) {
  EXPECT_EQ(writable_folder((folder_ + "/none").c_str()), "");
  EXPECT_EQ(errno, ENOENT);
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(writable_folder((folder_ + "/file").c_str()), "");
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_NE(writable_folder(folder_.c_str()), "");
}

}  // namespace
}  // namespace sumac

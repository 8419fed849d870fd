// SPDX-License-Identifier: BSD-3-Clause
#include "observe/record_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/clock.h"

namespace sumac {
namespace {

class RecordFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "record-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ + "/rank-0.calls";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

  std::string folder_, path_;
  RecordFile file_;
};

TEST_F(RecordFileTest, HasItsLinesForItsOwnerAlone) {
  ASSERT_TRUE(file_.create(path_, 10000));
  EXPECT_TRUE(file_.add("one"));
  EXPECT_TRUE(file_.add(""));
  file_.end("two");
  EXPECT_EQ(text(), "one\n\ntwo\n");
  struct stat about;
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_FALSE(file_.add("three"));
}

TEST_F(RecordFileTest, NeverTakesAFileThatIsThere) {
  std::ofstream(path_) << "old";
  EXPECT_FALSE(file_.create(path_, 10000));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(text(), "old");
  std::filesystem::remove(path_);
  std::filesystem::create_symlink(folder_ + "/other", path_);
  EXPECT_FALSE(file_.create(path_, 10000));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/other"));
}

TEST_F(RecordFileTest, KeepsToItsLimitWithRoomForTheLastLine) {
  for (const std::uint64_t limit : {0u, 255u, 256u, 257u, 1000u, 100000u}) {
    RecordFile file;
    ASSERT_TRUE(file.create(path_, limit));
    const std::string line(99, 'x');
    std::uint64_t lines = 0;
    while (file.add(line)) ++lines;
    EXPECT_EQ(lines, limit < 256 ? 0 : (limit - 256) / 100) << limit;
    EXPECT_FALSE(file.add("")) << "a shorter line fits after one that did not";
    file.end("end");
    EXPECT_EQ(text().size(), lines * 100 + 4);
    EXPECT_EQ(text().substr(lines * 100), "end\n");
    std::filesystem::remove(path_);
  }
}

// As after a kill: without end() and without the object's end.
TEST_F(RecordFileTest, WritesWhatItKeepsAfterATime) {
  auto* const file = new RecordFile;
  ASSERT_TRUE(file->create(path_, 1000000));
  const std::uint64_t now = clock_ns();
  file->add("early");
  file->tick(now);
  EXPECT_EQ(text(), "");
  file->tick(now + 1'000'000'000);
  EXPECT_EQ(text(), "early\n");
  for (int i = 0; i < 40000; ++i) file->add("line");
  const std::size_t size = text().size();
  EXPECT_GT(size, 160000u);
  delete file;
  EXPECT_EQ(text().size(), 6u + 40000u * 5u);
}

// RLIMIT_FSIZE stands for a full disc: both cut a write off.
TEST_F(RecordFileTest, EndsBetweenLinesWhereTheDiscIsFull) {
  const auto fill = [this] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100003, 100003};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    if (!file_.create(path_, 1 << 24)) _exit(3);
    int lines = 0;
    while (file_.add("123456789") && lines < 100000) ++lines;
    file_.end("end");
    _exit(file_.problem() == EFBIG && lines < 100000 ? 0 : 1);
  };
  EXPECT_EXIT(fill(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(text().size(), 100000u);
}

}  // namespace
}  // namespace sumac

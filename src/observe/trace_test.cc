// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "observe/log.h"

namespace sumac {
namespace {

class Trace : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "trace-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(int rank) const { return folder_ + "/rank-" + std::to_string(rank) + ".json"; }
  std::string text(int rank) const {
    std::ostringstream all;
    all << std::ifstream(path(rank)).rdbuf();
    return all.str();
  }
  static int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  std::string folder_;
};

TEST_F(Trace, OffRecordsNothing) {
  EXPECT_FALSE(trace::on());
  std::uint64_t calls = 0;
  {
    const trace::Operation operation("allreduce", 8, 1, calls);
    trace::record({"node", "up", "ring"}, 0, 0, 1, 2);
  }
  EXPECT_EQ(calls, 0u);
}

TEST_F(Trace, OperationsAndTheirPieces) {
  trace::start(folder_.c_str());
  ASSERT_TRUE(trace::on());
  std::uint64_t calls = 7;
  for (int i = 0; i < 2; ++i) {
    const trace::Operation operation("allreduce", 4096, 0xabc, calls);
    const std::uint64_t now = trace::now_ns();
    trace::record({"numa", "up", "ring"}, trace::current_operation(), 3, now, now + 1500);
    trace::record({"node", "across", "ring"}, trace::current_operation(), 3, now + 1500,
                  now + 1501);
  }
  EXPECT_EQ(calls, 9u);
  ASSERT_TRUE(trace::write(2, 4));
  EXPECT_FALSE(trace::on());
  const std::string all = text(2);
  EXPECT_EQ(all.front(), '[');
  EXPECT_EQ(all.substr(all.size() - 3), "\n]\n");
  EXPECT_EQ(count(all, "\"ph\":\"X\""), 6);
  EXPECT_EQ(count(all, "\"name\":\"numa up\",\"pid\":2,\"tid\":1,\"ts\":"), 2);
  EXPECT_EQ(count(all, "\"name\":\"node across\",\"pid\":2,\"tid\":2,\"ts\":"), 2);
  EXPECT_EQ(count(all, ",\"dur\":1.500,\"args\":{\"operation\":1,\"chunk\":3,\"level\":\"numa\","),
            1);
  EXPECT_EQ(count(all, ",\"dur\":0.001,"), 2);
  EXPECT_EQ(
      count(all, "{\"operation\":1,\"bytes\":4096,\"group\":\"0000000000000abc\",\"call\":8}"), 1);
  EXPECT_EQ(count(all, "\"rank\":2,\"ranks\":4,"), 1);
  EXPECT_EQ(count(all, "\"dropped\":0}"), 1);
  EXPECT_EQ(count(all, "\"thread_name\""), 3);
}

TEST_F(Trace, WhatDoesNotFitIsCounted) {
  trace::start(folder_.c_str(), 100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (std::uint64_t i = 0; i < 50; ++i) trace::record({"node", "up", "ring"}, 0, i, 1, 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(trace::write(0, 1));
  EXPECT_EQ(count(text(0), "\"ph\":\"X\""), 100);
  EXPECT_EQ(count(text(0), "\"dropped\":100}"), 1);
}

TEST_F(Trace, NamesAreCopiedAndFitForTheFile) {
  trace::start(folder_.c_str());
  std::string level = "list:\"0\\-15/16-31\n";
  trace::record({level.c_str(), "up", "ring"}, 0, 0, 1, 2);
  level.assign(level.size(), 'x');
  ASSERT_TRUE(trace::write(0, 1));
  EXPECT_EQ(count(text(0), "\"level\":\"list:_0_-15/16-\""), 1);
}

TEST_F(Trace, ManyNamesShareTheLastLane) {
  trace::start(folder_.c_str());
  for (int i = 0; i < 200; ++i)
    trace::record({std::to_string(i).c_str(), "up", "ring"}, 0, 0, 1, 2);
  ASSERT_TRUE(trace::write(0, 1));
  EXPECT_EQ(count(text(0), "\"ph\":\"X\""), 200);
  EXPECT_EQ(count(text(0), "\"thread_name\""), 65);
}

TEST_F(Trace, FilesAreTheUsersAndNeverOverwritten) {
  trace::start(folder_.c_str());
  ASSERT_TRUE(trace::write(0, 1));
  struct stat about;
  ASSERT_EQ(stat(path(0).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  const std::string first = text(0);
  trace::start(folder_.c_str());
  trace::record({"node", "up", "ring"}, 0, 0, 1, 2);
  EXPECT_FALSE(trace::write(0, 1));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(text(0), first);
}

TEST_F(Trace, StaysOffWithoutItsFolder) {
  set_log(Level::warn, 0);
  testing::internal::CaptureStderr();
  trace::start((folder_ + "/none").c_str());
  EXPECT_FALSE(trace::on());
  std::ofstream(folder_ + "/file") << "x";
  trace::start((folder_ + "/file").c_str());
  EXPECT_FALSE(trace::on());
  EXPECT_EQ(count(testing::internal::GetCapturedStderr(), "warning[trace]: cannot write into"), 2);
}

TEST_F(Trace, TheClockIsRealTime) {
  trace::start(folder_.c_str());
  timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  const auto seconds = static_cast<std::int64_t>(trace::now_ns() / 1'000'000'000);
  EXPECT_NEAR(static_cast<double>(seconds - real.tv_sec), 0, 1);
  ASSERT_TRUE(trace::write(0, 1));
}

}  // namespace
}  // namespace sumac

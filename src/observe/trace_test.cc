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
#include "testing/read_recording.h"

namespace sumac {
namespace {

using testing::read_recording;
using testing::ReadRecording;
using testing::value_of;

class Trace : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "trace-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(int rank) const { return folder_ + "/rank-" + std::to_string(rank) + ".trace"; }
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
    const trace::OperationScope operation("allreduce", 8, 1, calls);
    trace::record({"node", "up", "ring"}, 0, 0, 1, 2);
  }
  EXPECT_EQ(calls, 0u);
}

TEST_F(Trace, OperationsAndTheirPieces) {
  trace::start(folder_.c_str());
  ASSERT_TRUE(trace::on());
  std::uint64_t calls = 7;
  for (int i = 0; i < 2; ++i) {
    const trace::OperationScope operation("allreduce", 4096, 0xabc, calls);
    const std::uint64_t now = trace::now_ns();
    trace::record({"numa", "up", "ring"}, trace::current_operation(), 3, now, now + 1500);
    trace::record({"node", "across", "ring"}, trace::current_operation(), 4, now + 1500,
                  now + 1501);
  }
  EXPECT_EQ(calls, 9u);
  ASSERT_TRUE(trace::write(2, 4));
  EXPECT_FALSE(trace::on());
  const ReadRecording read = read_recording(path(2));
  ASSERT_EQ(read.lines.size(), 4u);
  EXPECT_EQ(value_of(read.lines[0], "sumac_recording"), "1");
  EXPECT_EQ(value_of(read.lines[0], "of"), "trace");
  EXPECT_EQ(value_of(read.lines[0], "rank"), "2");
  EXPECT_EQ(value_of(read.lines[0], "ranks"), "4");
  EXPECT_EQ(value_of(read.lines[0], "dropped"), "0");
  EXPECT_EQ(value_of(read.lines[1], "text"), "allreduce");
  EXPECT_EQ(value_of(read.lines[2], "level"), "numa");
  EXPECT_EQ(value_of(read.lines[3], "stage"), "across");
  EXPECT_EQ(value_of(read.lines[3], "algorithm"), "ring");
  const auto operations = read.records<TracedOperation>();
  const auto pieces = read.records<TracedPiece>();
  ASSERT_EQ(operations.size(), 2u);
  ASSERT_EQ(pieces.size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    const TracedOperation& operation = operations[i];
    EXPECT_EQ(operation.name, 0u);
    EXPECT_EQ(operation.number, i);
    EXPECT_EQ(operation.bytes, 4096u);
    EXPECT_EQ(operation.group, 0xabcu);
    EXPECT_EQ(operation.call, 7 + i);
    EXPECT_LE(operation.begin, pieces[2 * i].begin);
    EXPECT_GE(operation.end, operation.begin);
    for (std::size_t k = 0; k < 2; ++k) {
      const TracedPiece& piece = pieces[2 * i + k];
      EXPECT_EQ(piece.lane, k);
      EXPECT_EQ(piece.operation, i);
      EXPECT_EQ(piece.chunk, 3 + k);
      EXPECT_EQ(piece.end - piece.begin, k == 0 ? 1500u : 1u);
    }
  }
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
  const ReadRecording read = read_recording(path(0));
  EXPECT_EQ(read.records<TracedPiece>().size(), 100u);
  EXPECT_EQ(value_of(read.lines[0], "dropped"), "100");
}

// There are more events than memory keeps before they are written.
TEST_F(Trace, ManyEventsAreWrittenInOrder) {
  constexpr std::uint64_t kPieces = 50'000;
  trace::start(folder_.c_str());
  for (std::uint64_t i = 0; i < kPieces; ++i) trace::record({"node", "up", "ring"}, 0, i, 1, 2);
  ASSERT_TRUE(trace::write(0, 1));
  const auto pieces = read_recording(path(0)).records<TracedPiece>();
  ASSERT_EQ(pieces.size(), kPieces);
  for (std::uint64_t i = 0; i < kPieces; ++i) ASSERT_EQ(pieces[i].chunk, i);
}

TEST_F(Trace, NamesAreCopiedAndFitForTheFile) {
  trace::start(folder_.c_str());
  std::string level = "list:\"0\\-15/16-31\n";
  trace::record({level.c_str(), "up", "ring"}, 0, 0, 1, 2);
  level.assign(level.size(), 'x');
  ASSERT_TRUE(trace::write(0, 1));
  EXPECT_EQ(value_of(read_recording(path(0)).lines[1], "level"), "list:_0_-15/16-");
}

TEST_F(Trace, EachLevelStageAndAlgorithmHasANumber) {
  trace::start(folder_.c_str());
  for (int i = 0; i < 200; ++i) {
    trace::record({std::to_string(i % 100).c_str(), "up", "ring"}, 0, 0, 1, 2);
  }
  trace::record({"0", "up", "tree"}, 0, 0, 1, 2);
  ASSERT_TRUE(trace::write(0, 1));
  const ReadRecording read = read_recording(path(0));
  EXPECT_EQ(read.lines.size(), 1u + 101);
  const auto pieces = read.records<TracedPiece>();
  ASSERT_EQ(pieces.size(), 201u);
  for (std::uint32_t i = 0; i < 200; ++i) EXPECT_EQ(pieces[i].lane, i % 100);
  EXPECT_EQ(pieces[200].lane, 100u);
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
  ::testing::internal::CaptureStderr();
  trace::start((folder_ + "/none").c_str());
  EXPECT_FALSE(trace::on());
  std::ofstream(folder_ + "/file") << "x";
  trace::start((folder_ + "/file").c_str());
  EXPECT_FALSE(trace::on());
  EXPECT_EQ(count(::testing::internal::GetCapturedStderr(), "warning[trace]: cannot write into"),
            2);
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

// SPDX-License-Identifier: BSD-3-Clause
// The tests copy between two sides: both see the same numbers, whatever the cells held before, and
// nobody waits for long.
#include "transport/shm/copy_times.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/measured.h"

namespace sumac {
namespace {

constexpr std::uint64_t kLong = 60'000'000'000;

// The memory of both sides holds bytes of that value at first.
struct Shared {
  explicit Shared(int value) : memory(sizeof(CopyCells[2]) + kCopiedBytes + kFalseSharingRange) {
    std::memset(memory.data(), value, memory.size());
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data()) % kFalseSharingRange;
    std::byte* cells = memory.data() + (at ? kFalseSharingRange - at : 0);
    places.writer = reinterpret_cast<CopyCells*>(cells);
    places.reader = places.writer + 1;
    for (std::size_t i = 0; i < kCopyPieces; ++i) {
      places.slots[i] = cells + sizeof(CopyCells[2]) + i * kCopyPiece;
    }
  }
  std::vector<std::byte> memory;
  CopyPlaces places;
};

bool copy(const void*, std::uintptr_t address, void* to, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return true;
}
bool pretend(const void*, std::uintptr_t, void*, std::size_t) { return true; }
bool refuse(const void*, std::uintptr_t, void*, std::size_t) { return false; }

// A side has read this of the other's memory.
struct Seen {
  std::vector<int> values;
};
bool look(const void* context, std::uintptr_t address, void* to, std::size_t bytes) {
  copy(nullptr, address, to, bytes);
  const auto* data = static_cast<const std::byte*>(to);
  EXPECT_EQ(std::memcmp(data, data + 1, bytes - 1), 0);
  static_cast<Seen*>(const_cast<void*>(context))->values.push_back(static_cast<int>(*data));
  return true;
}

TEST(CopyTimes, BothSidesTakeTheirTurns) {
  for (const int value : {0, 1, 0xff}) {
    for (const std::uint64_t first : {1ull, 1ull << 63}) {
      Shared shared(value);
      Seen by_reader, by_writer;
      std::thread reader([&] {
        EXPECT_TRUE(read_copies(shared.places, {look, &by_reader}, first, clock_ns() + kLong));
      });
      const CopyTimes times =
          write_copies(shared.places, {look, &by_writer}, first, {clock_ns() + kLong});
      reader.join();
      EXPECT_GT(times.slots(), 0);
      EXPECT_GT(times.attached, 0);
      // The reader has what the writer has written in each round, in its own memory and through
      // slots.
      EXPECT_EQ(by_reader.values, (std::vector<int>{0, 1, 2}));
      EXPECT_EQ(by_writer.values, (std::vector<int>{0, 1, 2}));
      for (const std::byte* slot : shared.places.slots) EXPECT_EQ(static_cast<int>(*slot), 2);
    }
  }
}

TEST(CopyTimes, TheLeastOfEachWayCounts) {
  // Each row of three has the cached, the streamed and the attached time of a round.
  static constexpr std::uint64_t kTook[] = {90, 80, 70, 50, 60, 65, 40, 99, 61};
  static thread_local std::size_t readings;
  static thread_local std::uint64_t time;
  readings = time = 0;
  const auto clock = [] {
    time += readings % 2 == 1 ? kTook[readings / 2] : 1000;
    ++readings;
    return time;
  };
  Shared shared(0);
  std::thread reader([&] { read_copies(shared.places, {pretend}, 7, clock_ns() + kLong); });
  const CopyTimes times = write_copies(shared.places, {pretend}, 7, {clock_ns() + kLong, clock});
  reader.join();
  EXPECT_EQ(times.cached, 40);
  EXPECT_EQ(times.streamed, 60);
  EXPECT_EQ(times.slots(), 40);
  EXPECT_EQ(times.attached, 61);
}

TEST(CopyTimes, NobodyWaitsForASideThatDoesNotCome) {
  Shared shared(1);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_LT(write_copies(shared.places, {refuse}, 7, {clock_ns()}).slots(), 0);
    EXPECT_FALSE(read_copies(shared.places, {refuse}, 70, clock_ns()));
  }
}

TEST(CopyTimes, ARefusedReadEndsBoth) {
  for (const bool reader_is : {true, false}) {
    Shared shared(0);
    const std::uint64_t soon = clock_ns() + 100'000'000;
    std::thread reader(
        [&] { EXPECT_FALSE(read_copies(shared.places, {reader_is ? refuse : pretend}, 7, soon)); });
    const CopyTimes times = write_copies(shared.places, {reader_is ? pretend : refuse}, 7, {soon});
    reader.join();
    EXPECT_LT(times.slots(), 0);
    EXPECT_LT(times.attached, 0);
  }
}

TEST(CopyTimes, ClassesFollowFromThem) {
  EXPECT_EQ(attach_of(-1, 5), Attach::unknown);
  EXPECT_EQ(attach_of(5, -1), Attach::unknown);
  EXPECT_EQ(attach_of(800, 700), Attach::fast);
  EXPECT_EQ(attach_of(800, 701), Attach::slow);
  EXPECT_EQ(attach_of(800, 10), Attach::fast);
  for (const Attach a : {Attach::unknown, Attach::fast, Attach::slow}) {
    for (const Attach b : {Attach::unknown, Attach::fast, Attach::slow}) {
      EXPECT_EQ(slower(a, b), slower(b, a));
      EXPECT_EQ(slower(a, a), a);
    }
    EXPECT_EQ(slower(a, Attach::unknown), Attach::unknown);
  }
  EXPECT_EQ(slower(Attach::fast, Attach::slow), Attach::slow);
}

TEST(CopyTimes, StoresAreCachedUnlessTheOthersAreClearlyFaster) {
  EXPECT_EQ(stores_of(-1, 5), Stores::unknown);
  EXPECT_EQ(stores_of(5, -1), Stores::unknown);
  EXPECT_EQ(stores_of(800, 700), Stores::cached);
  EXPECT_EQ(stores_of(800, 699), Stores::streamed);
  EXPECT_EQ(both(Stores::streamed, Stores::cached), Stores::streamed);
  EXPECT_EQ(both(Stores::cached, Stores::cached), Stores::cached);
  EXPECT_EQ(both(Stores::streamed, Stores::unknown), Stores::unknown);
  // If the ways are not measured, the distance decides.
  for (const Distance distance : {Distance::unknown, Distance::near, Distance::far}) {
    for (const Stores stores : {Stores::unknown, Stores::cached, Stores::streamed}) {
      const Measured measured{distance, Attach::unknown, stores};
      const bool by_distance = stores == Stores::unknown && distance == Distance::far;
      EXPECT_EQ(measured.streams(), stores == Stores::streamed || by_distance);
    }
  }
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The tests compare the places of positions with a plain account of the memory of each: places that
// ranks may be using at the same time are apart, and ranks may be far ahead of the others.
#include "transport/shm/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace sumac {
namespace {

// The bytes from `from` to `to` of a ring.
struct Range {
  std::size_t from = 0, to = 0;
  bool overlaps(const Range& other) const { return from < other.to && other.from < to; }
};

struct Taken {
  Range lines, payload;
  bool results = false;
  std::size_t data = 0;  // bytes of the program's data
};

// Takes positions as ShmGroup does, and knows what each has.
class Account {
 public:
  explicit Account(const Layout& layout) : layout_(layout), places_(layout) {}

  void take(std::uint64_t count, const Use& use, std::size_t data) {
    places_.take(taken_.size(), count, use);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t position = taken_.size();
      const Places::Run& run = places_.run_of(position);
      ASSERT_EQ(run.lines, static_cast<std::uint32_t>(use.lines));
      ASSERT_GE(run.step, use.room);
      Taken one{{}, {}, use.results, data};
      if (use.lines > 1) one.lines = {run.line_place, run.line_place + run.lines};
      const std::size_t place = places_.payload_place(position);
      if (use.room > 0) one.payload = {place, place + use.room};
      ASSERT_LE(one.lines.to, layout_.further_lines);
      ASSERT_LE(one.payload.to, layout_.payload_bytes());
      taken_.push_back(one);
      check(position);
    }
  }

  std::size_t size() const { return taken_.size(); }

 private:
  void check(std::uint64_t position) {
    const std::uint64_t needed = places_.needed_for(position);
    const Taken& own = taken_[position];
    std::size_t data = own.data;
    ASSERT_LE(needed, position);
    ASSERT_GE(needed + (own.results ? kResultPlaces : kPositions), position + 1);
    for (std::uint64_t p = position; p-- > needed;) {
      const Taken& other = taken_[p];
      ASSERT_FALSE(own.lines.overlaps(other.lines)) << p << " " << position;
      ASSERT_FALSE(own.payload.overlaps(other.payload)) << p << " " << position;
      ASSERT_FALSE(own.results && other.results && (position - p) % kResultPlaces == 0);
      data += other.data;
    }
    // A rank may go on by so many calls or so much data.
    if (needed == 0 || own.results || position - needed + 1 == kPositions) return;
    ASSERT_GT(data + taken_[needed - 1].data, least_ahead_) << position;
  }

 public:
  std::size_t least_ahead_ = 64 << 10;

 private:
  Layout layout_;
  Places places_;
  std::deque<Taken> taken_;
};

int lines_of(std::size_t bytes) {
  return static_cast<int>(std::max<std::size_t>(1, (bytes + kLineData - 1) / kLineData));
}

TEST(Places, OfCallsOfOneSize) {
  for (std::size_t bytes = 1; bytes <= 32 << 10; bytes += 1 + bytes / 7) {
    SCOPED_TRACE(bytes);
    Account by_lines{Layout()}, by_slots{Layout()};
    for (int i = 0; i < 600; ++i) {
      if (bytes <= kLinesData) by_lines.take(1, {.lines = lines_of(bytes)}, bytes);
      by_slots.take(1, {.room = bytes}, bytes);
    }
  }
}

// Calls are small and large, and of several positions too, which may be more than all memory has.
TEST(Places, OfCallsOfAnySizes) {
  std::mt19937 random(1);
  for (const std::size_t slot : {std::size_t{4} << 10, std::size_t{32} << 10}) {
    for (int round = 0; round < 20; ++round) {
      Layout layout;
      layout.ranks = 2;
      layout.slot_bytes = slot;
      layout.ring = slot < Layout().slot_bytes ? kMostSlots : 8;
      layout.turns = std::size_t{1} << random() % 4;
      Account account(layout);
      // Payloads that differ in size leave gaps.
      account.least_ahead_ = 32 << 10;
      const std::size_t most = layout.widest_payload();
      while (account.size() < 3000) {
        const std::size_t bytes = random() % 2 ? random() % kLinesData + 1 : random() % most + 1;
        switch (random() % 4) {
          case 0:
            account.take(1, {.lines = lines_of(bytes % kLinesData)}, bytes % kLinesData);
            break;
          case 1:
            account.take(1 + random() % 3, {.room = bytes}, bytes);
            break;
          case 2:
            account.take(1, {.results = random() % 2 == 0}, 0);
            break;
          case 3:
            account.take(random() % 20 == 0 ? 300 : 1, {.room = bytes, .results = true}, bytes);
            break;
        }
      }
    }
  }
}

// Places are found however many operations have begun since.
TEST(Places, OfOldPositions) {
  Places places{Layout()};
  places.take(0, 1, {.lines = 3});
  const std::size_t line = places.run_of(0).line_place;
  for (std::uint64_t p = 1; p < kPositions + 8; ++p) {
    places.take(p, 1, {.lines = 2 + static_cast<int>(p % 2)});
    ASSERT_EQ(places.run_of(0).first, 0u);
    ASSERT_EQ(places.run_of(0).line_place, line);
  }
}

}  // namespace
}  // namespace sumac

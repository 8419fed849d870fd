// SPDX-License-Identifier: BSD-3-Clause
// One of two ranks stores what the other will read from its slots into its cache, as usual, or past
// it to memory. Which is faster depends on where the ranks run. Between cores that share a cache, a
// line comes from the other's cache sooner than from memory; between cores that share none, a
// modified line costs several times what a line in memory costs, which the reader's prefetchers
// fetch. (Between two cores of a Zen 4, 64 KiB take 5 us near and 18 us far if cached, 12 and 9 us
// if streamed.) A virtual machine's processors move from one core to another while a program runs.
//
// So both ways are measured again and again. Positions are counted in passes through a ring; in
// each period of passes both ranks store one pass either way and note the least cost a byte of
// their own stores and of their reads. The reader's costs are in its control lines. From then on a
// writer stores the way whose stores and reads together were cheaper. The reader need not know
// which: a writer decides for itself, and nothing that a rank computes depends on it.
//
// Among more than two ranks data stay in the caches: the slowest of many readers, in passes that
// may be of different calls, says too little. (On 16 cores of a Sapphire Rapids reductions of 256
// KiB to 4 MiB take 1.05 to 1.9 times as long past the caches, and were measured to be cheaper.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sumac {

enum class Way : std::uint8_t { cached, streamed };
inline constexpr int kWays = 2;

#if defined(__x86_64__)
inline constexpr bool kCanStream = true;
#else
inline constexpr bool kCanStream = false;
#endif

// A copy of fewer bytes is neither streamed nor measured: flags and fences would be most of its
// cost.
inline constexpr std::size_t kLeastMeasured = 2 << 10;

// This is the least cost of one pass, with the period of that pass, in one word, so that it can be
// read while it is written.
class PassCost {
 public:
  PassCost() = default;
  explicit PassCost(std::uint64_t word) : word_(word) {}
  // Takes the cost, converted to ticks for each KiB, into account. Costs of other periods are
  // forgotten.
  void note(std::uint64_t period, std::uint64_t ticks, std::size_t bytes) {
    const std::uint64_t cost = ticks * 1024 / bytes + 1;
    if (of(period) == 0 || cost < of(period)) word_ = period << kShift | (cost & kMask);
  }
  // Returns 0 if nothing was noted in that period.
  std::uint64_t of(std::uint64_t period) const {
    return word_ >> kShift == (period & (~std::uint64_t{0} >> kShift)) ? word_ & kMask : 0;
  }
  std::uint64_t word() const { return word_; }

 private:
  static constexpr int kShift = 32;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kShift) - 1;
  std::uint64_t word_ = ~std::uint64_t{0} << kShift;  // no period that will be has this number
};

// The schedule says which passes are measured, for all ranks alike.
class PassSchedule {
 public:
  static constexpr std::uint64_t kPasses = 128;  // passes in a period; two of them are measured

  explicit PassSchedule(std::uint64_t positions = 8) : positions_(positions) {}
  std::uint64_t pass(std::uint64_t position) const { return position / positions_; }
  std::uint64_t period(std::uint64_t position) const { return pass(position) / kPasses; }
  // Returns true in a pass that is measured, and sets the way in which that pass is stored. The
  // very first pass touches its memory for the first time, so it is not measured.
  bool measured(std::uint64_t position, Way& way) const {
    const std::uint64_t phase = pass(position) % kPasses;
    if (phase != 1 && phase != 2) return false;
    way = phase == 1 ? Way::cached : Way::streamed;
    return true;
  }
  // Returns true if both measured passes of the period are through, on all ranks, but for the last
  // slots.
  bool decidable(std::uint64_t position) const { return pass(position) % kPasses >= 4; }

 private:
  std::uint64_t positions_;
};

// This is a writer's choice.
class HandOver {
 public:
  explicit HandOver(const PassSchedule& schedule = PassSchedule()) : schedule_(schedule) {}

  const PassSchedule& schedule() const { return schedule_; }

  // Returns the way of storing for `position`. read_cost(way, period) must return what reading cost
  // the other rank, 0 if it has not read.
  template <class ReadCost>
  Way way(std::uint64_t position, ReadCost read_cost) {
    if (!kCanStream) return Way::cached;
    Way way;
    if (schedule_.measured(position, way)) return way;
    const std::uint64_t period = schedule_.period(position);
    if (period != decided_ && schedule_.decidable(position)) {
      decided_ = period;
      decide(period, {read_cost(Way::cached, period), read_cost(Way::streamed, period)});
    }
    return chosen_;
  }
  void note_stored(std::uint64_t position, Way way, std::uint64_t ticks, std::size_t bytes) {
    stored_[static_cast<std::size_t>(way)].note(schedule_.period(position), ticks, bytes);
  }

 private:
  void decide(std::uint64_t period, const std::array<std::uint64_t, kWays>& read);

  // Another way is taken if it costs less than so many eighths of the one in use. Two measurements
  // of one way differ by up to an eighth.
  static constexpr std::uint64_t kClearly = 7;

  PassSchedule schedule_;
  Way chosen_ = Way::cached;
  std::uint64_t decided_ = ~std::uint64_t{0};
  std::array<PassCost, kWays> stored_;
};

// The way in use stays unless the other is clearly cheaper.
inline void HandOver::decide(std::uint64_t period, const std::array<std::uint64_t, kWays>& read) {
  std::uint64_t cost[kWays];
  for (std::size_t way = 0; way < kWays; ++way) {
    const std::uint64_t stored = stored_[way].of(period);
    if (stored == 0 || read[way] == 0) return;
    cost[way] = stored + read[way];
  }
  const auto used = static_cast<std::size_t>(chosen_);
  const std::size_t other = 1 - used;
  if (8 * cost[other] < kClearly * cost[used]) chosen_ = static_cast<Way>(other);
}

}  // namespace sumac

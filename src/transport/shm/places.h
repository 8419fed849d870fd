// SPDX-License-Identifier: BSD-3-Clause
// Each position has places in a rank's rings. All ranks compute them by the same arithmetic,
// whether they write there or not.
//
// Lines of a message that needs several, and payloads, follow one another in rings, each operation
// taking as much as it uses. The places taken are counted without end ("from" grows and is taken
// modulo the ring), so a position's places are free once all positions that begin a ring's length
// before its end are finished. Positions in a row that use the same are one entry, since a program
// often repeats a call and a large message has thousands of positions.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/layout.h"

namespace sumac {

// An operation uses this of each of its positions, the same on all ranks.
struct Use {
  int lines = 1;         // more than one only if the operation has one position
  std::size_t room = 0;  // bytes of the payload
  bool results = false;  // ResultFlags
};

class Places {
 public:
  Places() = default;
  explicit Places(const Layout& layout)
      : further_lines_(layout.further_lines),
        payload_mask_(layout.payload_bytes() - 1),
        payload_bytes_(layout.payload_bytes()),
        runs_(kRuns) {}

  // A run is several positions in a row that use the same.
  struct Run {
    std::uint64_t first = 0;      // position
    std::uint64_t line_from = 0;  // further lines taken before it
    std::uint64_t from = 0;       // bytes of payloads taken before it
    std::uint32_t line_place = 0;
    std::uint32_t lines = 1;
    std::uint32_t step = 0;  // bytes of a payload, a power of two; 0: none
    bool results = false;
    // If this holds for the run, ranks may be kPositions ahead in it.
    bool only_first_lines() const { return lines == 1 && step == 0 && !results; }
  };

  // Notes that `count` positions from `first` on use this. Positions follow one another.
  void take(std::uint64_t first, std::uint64_t count, const Use& use) {
    assert(use.lines == 1 || count <= 1);
    if (count == 0) return;
    const std::uint32_t step = step_of(use.room);
    const bool as_before = use.lines == 1 && last_.lines == 1 && step == last_.step &&
                           use.results == last_.results && newest_ > 0;
    if (!as_before) begin_run(first, use, step);
    next_from_ += count * step;
  }

  const Run& run_of(std::uint64_t position) const {
    if (position >= last_.first) [[likely]]
      return last_;
    return earlier_run(position);
  }
  // from_of() returns the place of a position's payload in bytes counted without end,
  // payload_place() in the ring.
  static std::uint64_t from_of(const Run& run, std::uint64_t position) {
    return run.from + (position - run.first) * run.step;
  }
  std::size_t payload_place(std::uint64_t position) const {
    return from_of(run_of(position), position) & payload_mask_;
  }
  // Returns the bytes of payloads that all operations so far have taken.
  std::uint64_t payloads_taken() const { return next_from_; }
  // Returns the further line with which the next operation of several lines begins.
  std::size_t next_line_place() const { return line_place_; }

  // All positions before this one must have been finished by all ranks before `position` is
  // written.
  std::uint64_t needed_for(std::uint64_t position) const;

 private:
  static constexpr std::size_t kRuns = kAnnouncedCalls;

  static std::uint32_t step_of(std::size_t room) {
    if (room == 0) return 0;
    return static_cast<std::uint32_t>(std::bit_ceil(std::max(room, kFalseSharingRange)));
  }
  void begin_run(std::uint64_t first, const Use& use, std::uint32_t step);
  const Run& earlier_run(std::uint64_t position) const;
  // Returns the first position, up to `position`, that begins at or behind this place.
  std::uint64_t first_line_from(std::uint64_t line_from, std::uint64_t position) const;
  std::uint64_t first_payload_from(std::uint64_t from, std::uint64_t position) const;

  std::size_t further_lines_ = 0;
  std::uint64_t payload_mask_ = 0;
  std::size_t payload_bytes_ = 0;
  std::uint64_t newest_ = 0;  // number of the newest run; the first is 1
  std::uint64_t next_from_ = 0, next_line_from_ = 0;
  std::uint32_t line_place_ = 0;
  Run last_;               // the newest run
  std::vector<Run> runs_;  // indexed by number modulo kRuns
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This table has what trials have learnt (SUMAC_ADAPT): the classes of calls that now go another
// way than the rules choose, and what that gains.
#pragma once

#include <cstdint>

#include "base/algorithm.h"

namespace sumac {

// The outcome of a comparison. Calls on communicators of the same number of ranks share an entry.
struct Learnt {
  std::uint64_t bytes = 0;  // the least of the class
  std::uint64_t first_ns = 0, now_ns = 0;
  std::int32_t ranks = 0;
  Collective collective = Collective::allreduce;
  std::uint8_t kind = 0;  // results of two kinds are tried apart
  Algorithm first = Algorithm::native, now = Algorithm::native;

  bool is_of_class(const Learnt& other) const {
    return collective == other.collective && bytes == other.bytes && ranks == other.ranks &&
           kind == other.kind;
  }
  // Returns how much less time the calls take than by the first candidate.
  int gain_percent() const {
    if (first_ns <= now_ns) return 0;
    return static_cast<int>(100.0 * static_cast<double>(first_ns - now_ns) /
                            static_cast<double>(first_ns));
  }
};

// The table is plain bytes, so that ranks can send it to one another.
struct LearntTable {
  static constexpr int kMost = 32;

  // Takes an outcome in the place of what was known of its class. If that stays with the rules, it
  // has no entry. What does not fit is left out.
  void note(const Learnt& outcome);
  // Adds the classes of another rank's table that this one does not have.
  void merge(const LearntTable& other);

  Learnt all[kMost];
  std::int32_t count = 0;
};

// These functions are for the process as a whole. They are thread-safe.
void note_learnt(const Learnt& outcome);
LearntTable process_learnt();

// Returns the name of an algorithm, or says that it is the MPI's.
inline const char* way_name(Algorithm algorithm) {
  return algorithm == Algorithm::native ? "the MPI's own" : name_of(algorithm);
}

}  // namespace sumac

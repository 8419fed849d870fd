// SPDX-License-Identifier: BSD-3-Clause
// Which calls of a team try to go direct. To try costs the ranks an exchange of addresses before
// the call takes another way, so after tries that failed the next ones come at longer and longer
// distances, up to every 64th call. All ranks count the same calls and so try the same.
//
// What is gained is measured: each rank keeps the least times, for each byte, of the calls that
// went direct and of those that did not, by collective and power of two of bytes. A rank on which
// it gains nothing says that its buffers are not mapped; so ranks may find different times.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/arguments.h"
#include "rules/choice_table.h"

namespace sumac {

class DirectTries {
 public:
  static constexpr int kMostSkipped = 64;

  // `choices`: with the direct algorithms.
  explicit DirectTries(const ChoiceTable& choices) : choices_(choices) {}

  // The direct algorithm of a call that would otherwise be served by `otherwise`, or native where
  // the rules have none for it. Changes nothing.
  Algorithm choose(Collective collective, std::size_t bytes, Algorithm otherwise) const;

  // Counts a blocking or nonblocking call that may go direct, in the order of calls; returns true
  // when it is to try.
  bool is_due(Collective collective, std::size_t bytes);
  // Notes how a blocking call that has tried has ended, in what time. How nonblocking ones end is
  // not known at the same call on all ranks.
  void note(Collective collective, std::size_t bytes, bool went, std::uint64_t ns);
  // Notes the time of a blocking call that has not tried.
  void note_other(Collective collective, std::size_t bytes, std::uint64_t ns);

  // The time (ns) that a call gains on this rank by going direct; where neither way has been
  // measured often enough, what is usual.
  double gain_ns(Collective collective, std::size_t bytes) const;

 private:
  static constexpr int kClasses = 48;  // of bytes, by powers of two

  // The least of some times.
  class Least {
   public:
    static constexpr int kEnough = 16;
    void add(double time) {
      least_ = samples_ == 0 ? time : std::min(least_, time);
      samples_ += samples_ < kEnough;
    }
    bool known() const { return samples_ == kEnough; }
    double time() const { return least_; }

   private:
    double least_ = 0;
    int samples_ = 0;
  };
  struct Class {
    std::uint8_t left = 0;     // calls to skip
    std::uint8_t skipped = 0;  // after the last try
    std::uint8_t failed = 0;   // tries that failed, one after another
    Least direct, other;       // ns for each byte
  };
  Class& of(Collective collective, std::size_t bytes);
  const Class& of(Collective collective, std::size_t bytes) const;

  ChoiceTable choices_;
  Class classes_[kNumCollectives][kClasses];
};

}  // namespace sumac

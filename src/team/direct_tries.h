// SPDX-License-Identifier: BSD-3-Clause
// Which calls of a team try to go direct. To try costs the ranks an exchange of addresses before
// the call takes another way, so after tries that failed the next ones come at longer and longer
// distances, up to every 64th call. All ranks count the same calls and so try the same.
#pragma once

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
  // Notes how a blocking call that has tried has ended. How nonblocking ones end is not known at
  // the same call on all ranks.
  void note(Collective collective, std::size_t bytes, bool went);

 private:
  static constexpr int kClasses = 48;  // of bytes, by powers of two

  struct Class {
    std::uint8_t left = 0;     // calls to skip
    std::uint8_t skipped = 0;  // after the last try
  };
  Class& of(Collective collective, std::size_t bytes);

  ChoiceTable choices_;
  Class classes_[kNumCollectives][kClasses];
};

}  // namespace sumac

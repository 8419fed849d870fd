// SPDX-License-Identifier: BSD-3-Clause
// Some calls of a team try to go direct. A try costs the ranks an exchange of addresses before the
// call takes another way, so after tries that failed the next ones come at longer and longer
// distances, up to every 64th call. All ranks count the same calls and so try the same.
//
// The gain is measured: each rank keeps the least times, for each byte, of the calls that went
// direct and of those that did not, by collective and power of two of bytes. A rank on which it
// gains nothing says that its buffers are not mapped; so ranks may find different times.
//
// Going direct is no candidate of the trials (trials.h). These compare ways that every call of a
// class can go. Whether a call can go direct depends on its buffers, which differ from call to call
// and which the ranks learn in the call; one that cannot goes the way that the trials have found,
// and is what direct calls are compared with. The outcome is no choice among algorithms either, but
// what promoting a buffer gains, which each rank weighs for its own buffers, without an agreement.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/arguments.h"
#include "rules/choice_table.h"

namespace sumac {

class DirectTries {
 public:
  static constexpr int kMostSkipped = 64;

  // `choices` are those with the direct algorithms.
  explicit DirectTries(const ChoiceTable& choices) : choices_(choices) {}

  // Returns a bit for each std::bit_width(bytes) of calls that may go direct.
  std::uint64_t classes(Collective collective) const {
    return classes_in_place(choices_, collective);
  }
  // Returns the direct algorithm of a call that would otherwise be served by `otherwise`, or native
  // if the rules have none for it. Changes nothing.
  Algorithm choose(Collective collective, std::size_t bytes, Algorithm otherwise) const;

  // Counts a blocking or nonblocking call that may go direct, in the order of calls. Returns true
  // if it is to try.
  bool is_due(Collective collective, std::size_t bytes);
  // Returns true if the last blocking call of such bytes that has tried went direct.
  bool went(Collective collective, std::size_t bytes) const { return of(collective, bytes).went; }
  // Notes how a blocking call that has tried has ended, and in what time. The end of a nonblocking
  // one is not known at the same call on all ranks.
  void note(Collective collective, std::size_t bytes, bool went, std::uint64_t ns);
  // Notes the time of a blocking call that has not tried.
  void note_other(Collective collective, std::size_t bytes, std::uint64_t ns);

  // Returns the time (ns) that a call gains on this rank by going direct. If a way has not been
  // measured often enough, it is the usual gain.
  double gain_ns(Collective collective, std::size_t bytes) const;

 private:
  static constexpr int kClasses = 48;  // powers of two of bytes

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
    // The state of one size class. After a failed try twice as many calls are skipped as before, up
    // to kMostSkipped; a try that goes direct ends that. These calls are still to be skipped.
    std::uint8_t left = 0;
    std::uint8_t skipped = 0;  // calls skipped after the last try
    // Tries that failed in a row; the times are then forgotten at kForgetAfter.
    std::uint8_t failed = 0;
    bool went = false;    // the last try went direct
    Least direct, other;  // ns for each byte
  };
  Class& of(Collective collective, std::size_t bytes);
  const Class& of(Collective collective, std::size_t bytes) const;

  ChoiceTable choices_;
  Class classes_[kNumCollectives][kClasses];
};

}  // namespace sumac

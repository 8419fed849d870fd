// SPDX-License-Identifier: BSD-3-Clause
// Rounds in which the machine was the same from beginning to end, by the time of a line there and
// back before and after each.
#pragma once

#include <vector>

namespace sumac::bench {

class SteadyRounds {
 public:
  // `before`: nanoseconds of a line before the first round; 0 where it is not measured.
  explicit SteadyRounds(double before) : before_(before) {}

  // Takes the time of a line after a round, which is also that before the next. Returns whether the
  // round counts.
  bool add(double after);
  // Counts the last round although it was not steady, where there is no other: its line takes 0 ns.
  void keep_last();

  const std::vector<double>& line_ns() const { return line_ns_; }  // of each round that counts
  int dropped() const { return dropped_; }

 private:
  double before_;
  std::vector<double> line_ns_;
  int dropped_ = 0;
};

}  // namespace sumac::bench

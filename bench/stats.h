// SPDX-License-Identifier: BSD-3-Clause
// Statistics of samples, as the benchmark reports them.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace sumac::bench {

// The times of one contender at one size, in microseconds: ranks x rounds x iterations, in this
// order.
struct Samples {
  int ranks = 0;
  int rounds = 0;
  int iterations = 0;
  std::vector<float> us;
  std::vector<double> line_ns;  // of each round, see world.h; 0 where it is not measured
  int dropped = 0;              // rounds that do not count, see SteadyRounds
};

// The samples of one contender whose calls are timed in batches.
struct Turns {
  Samples samples;  // one per round
  int calls;        // per batch
  int batches;      // per round
};

struct Figures {
  double p50 = 0;   // median over rounds of by_round
  double p99 = 0;   // over all samples of all ranks
  double mean = 0;  // over all samples of all ranks
  double min = 0;   // of by_round
  // One value per round: the mean over ranks of each rank's median.
  std::vector<double> by_round;
};

// The value below which `fraction` of the values lie (nearest rank). 0 if there are no values.
double quantile(std::vector<float> values, double fraction);

// The middle value, or the mean of the two middle values.
double median(std::vector<double> values);

Figures summarize(const Samples& samples);

// The overlapped part of a call, in percent, from the times in each round of the call alone, of the
// computation alone, and of both together. Values beyond 0 or 100 are noise and are clamped.
double overlap_percent(const std::vector<double>& pure, const std::vector<double>& compute,
                       const std::vector<double>& overall);

double geometric_mean(const std::vector<double>& values);

// Rounds in which the machine was the same from beginning to end, by the time of a line there and
// back before and after each.
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

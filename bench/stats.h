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
  std::vector<double> line_ns;  // of each round, see line.h; 0 where it is not measured
  int dropped = 0;              // rounds that do not count, see steady.h
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

}  // namespace sumac::bench

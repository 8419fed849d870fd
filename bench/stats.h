// SPDX-License-Identifier: BSD-3-Clause
// Figures made of samples: what the benchmark reports.
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
};

// Of one contender whose calls are timed as batches.
struct Turns {
  Samples samples;  // one in each round
  int calls;        // in a batch
  int batches;      // in a round
};

struct Figures {
  double p50 = 0;   // the median over rounds of the round's figure
  double p99 = 0;   // of all samples of all ranks
  double mean = 0;  // of all samples of all ranks
  double min = 0;   // the best round
  // The figure of each round: the mean over ranks of the rank's median.
  std::vector<double> by_round;
};

// The element below which `fraction` of the values lie (nearest rank). 0 for no values.
double quantile(std::vector<float> values, double fraction);

// The middle value, or the mean of the two middle ones.
double median(std::vector<double> values);

Figures summarize(const Samples& samples);

// How much of a call was overlapped by a computation, 0 to 100: from the times, in each round, of
// the call alone, of the computation alone, and of both together. Beyond the ends lies noise only.
double overlap_percent(const std::vector<double>& pure, const std::vector<double>& compute,
                       const std::vector<double>& overall);

double geometric_mean(const std::vector<double>& values);

}  // namespace sumac::bench

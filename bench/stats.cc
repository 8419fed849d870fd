// SPDX-License-Identifier: BSD-3-Clause
#include "stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sumac::bench {

double quantile(std::vector<float> values, double fraction) {
  if (values.empty()) return 0;
  const double rank = std::ceil(fraction * static_cast<double>(values.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Figures summarize(const Samples& samples) {
  Figures figures;
  if (samples.us.empty()) return figures;
  const std::ptrdiff_t block = samples.iterations;
  for (int round = 0; round < samples.rounds; round++) {
    double sum = 0;
    for (int rank = 0; rank < samples.ranks; rank++) {
      const auto begin =
          samples.us.begin() + (std::ptrdiff_t{rank} * samples.rounds + round) * block;
      sum += median(std::vector<double>(begin, begin + block));
    }
    figures.by_round.push_back(sum / samples.ranks);
  }
  figures.p50 = median(figures.by_round);
  figures.min = *std::min_element(figures.by_round.begin(), figures.by_round.end());
  figures.p99 = quantile(samples.us, 0.99);
  figures.mean = std::accumulate(samples.us.begin(), samples.us.end(), 0.0) /
                 static_cast<double>(samples.us.size());
  return figures;
}

double overlap_percent(const std::vector<double>& pure, const std::vector<double>& compute,
                       const std::vector<double>& overall) {
  std::vector<double> percent;
  for (std::size_t i = 0; i < pure.size(); i++)  // a call that takes no time counts as overlapped
    percent.push_back(pure[i] > 0 ? 100 * (1 - (overall[i] - compute[i]) / pure[i]) : 100);
  return std::clamp(median(percent), 0.0, 100.0);
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

namespace {

// Between one placement of two processors and another, a line's time differs by far more than
// this, and from one measurement to the next by less. As in python/sumac_mpi/bench/modes.py.
constexpr double kChange = 1.5;

}  // namespace

bool SteadyRounds::add(double after) {
  const auto [low, high] = std::minmax(before_, after);
  const bool steady = high <= kChange * low;
  if (steady)
    line_ns_.push_back((low + high) / 2);
  else
    dropped_++;
  before_ = after;
  return steady;
}

void SteadyRounds::keep_last() {
  line_ns_.push_back(0);
  dropped_--;
}

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "turns.h"

#include <algorithm>

#include "timing.h"

namespace sumac::bench {
namespace {

constexpr int kMostCalls = 1000000;
constexpr std::int64_t kLongEnough = 20000;  // ns; shorter than this is too short to go by

double seconds_of(const Repeat& contender, int calls) {
  const std::int64_t start = now_ns();
  contender(calls);
  return static_cast<double>(now_ns() - start) * 1e-9;
}

// Seconds of one call, the first ones not counted.
double estimate(const Repeat& contender) {
  contender(1);
  int calls = 1;
  double seconds = seconds_of(contender, calls);
  while (seconds * 1e9 < kLongEnough && calls < kMostCalls) {
    calls *= 4;
    seconds = seconds_of(contender, calls);
  }
  return std::max(seconds / calls, 1e-10);
}

int rounds_for(const std::vector<double>& costs, const Options& options) {
  double once = 0;
  for (const double cost : costs) once += cost;
  const int most = std::max(options.rounds, 1);
  return static_cast<int>(
      std::clamp<double>(options.seconds / once, std::min(kFewestRounds, most), most));
}

int calls_for(double cost, std::size_t contenders, int rounds, const Options& options) {
  if (options.iterations > 0) return options.iterations;
  const double share = options.seconds / rounds / static_cast<double>(contenders);
  return static_cast<int>(std::clamp<double>(share / cost, 1, kMostCalls));
}

}  // namespace

std::vector<Turns> take_turns(const std::vector<Repeat>& contenders, const Options& options) {
  std::vector<double> costs;
  for (const Repeat& contender : contenders) costs.push_back(estimate(contender));
  const int rounds = rounds_for(costs, options);
  std::vector<Turns> result;
  for (const double cost : costs)
    result.push_back({{1, rounds, 1, {}}, calls_for(cost, contenders.size(), rounds, options)});
  for (int round = 0; round < rounds; round++)
    for (std::size_t turn = 0; turn < contenders.size(); turn++) {
      const std::size_t i = round % 2 == 0 ? turn : contenders.size() - 1 - turn;
      if (result[i].calls > 1) contenders[i](1);  // brings the data into the cache
      const double us = seconds_of(contenders[i], result[i].calls) * 1e6 / result[i].calls;
      result[i].samples.us.push_back(static_cast<float>(us));
    }
  return result;
}

}  // namespace sumac::bench

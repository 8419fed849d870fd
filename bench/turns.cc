// SPDX-License-Identifier: BSD-3-Clause
#include "turns.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "timing.h"

namespace sumac::bench {
namespace {

constexpr int kMostCalls = 1000000;
// The following times are in seconds.
constexpr double kBatch = 200e-6;      // well below a scheduler's time slice
constexpr double kLongEnough = 20e-6;  // enough for an estimate
constexpr double kLong = 1e-3;

double seconds_of(const Repeat& contender, int calls) {
  const std::int64_t start = now_ns();
  contender(calls);
  return static_cast<double>(now_ns() - start) * 1e-9;
}

// The least time of several runs, because one may be interrupted; long calls are run once.
double least_seconds_of(const Repeat& contender, int calls) {
  double least = seconds_of(contender, calls);
  for (int more = 0; more < 3 && least < kLong; more++)
    least = std::min(least, seconds_of(contender, calls));
  return least;
}

// Seconds per call, not counting the first call.
double estimate(const Repeat& contender) {
  contender(1);
  int calls = 1;
  double seconds = least_seconds_of(contender, calls);
  while (seconds < kLongEnough && calls < kMostCalls) {
    calls *= 4;
    seconds = least_seconds_of(contender, calls);
  }
  return std::max(seconds / calls, 1e-10);
}

int rounds_for(const std::vector<double>& costs, const Effort& effort) {
  double once = 0;
  for (const double cost : costs) once += cost;
  const int most = std::max(effort.rounds, 1);
  return static_cast<int>(
      std::clamp<double>(effort.seconds / once, std::min(kFewestRounds, most), most));
}

Turns plan(double cost, std::size_t contenders, int rounds, const Effort& effort) {
  Turns turns{{1, rounds, 1, {}, {}}, effort.calls, 1};
  if (effort.calls > 0) return turns;
  const double share = effort.seconds / rounds / static_cast<double>(contenders);
  turns.calls = static_cast<int>(std::clamp<double>(std::min(share, kBatch) / cost, 1, kMostCalls));
  turns.batches = static_cast<int>(std::max(share / (turns.calls * cost), 1.0));
  return turns;
}

// The microseconds of one call in this round.
float one_round(const Repeat& contender, const Turns& turns) {
  if (turns.calls * turns.batches > 1) contender(1);  // warms the cache
  std::vector<double> us;
  for (int batch = 0; batch < turns.batches; batch++)
    us.push_back(seconds_of(contender, turns.calls) * 1e6 / turns.calls);
  return static_cast<float>(median(std::move(us)));
}

}  // namespace

std::vector<Turns> take_turns(const std::vector<Repeat>& contenders, const Effort& effort) {
  std::vector<double> costs;
  for (const Repeat& contender : contenders) costs.push_back(estimate(contender));
  const int rounds = rounds_for(costs, effort);
  std::vector<Turns> result;
  for (const double cost : costs) result.push_back(plan(cost, contenders.size(), rounds, effort));
  for (int round = 0; round < rounds; round++)
    for (std::size_t turn = 0; turn < contenders.size(); turn++) {
      const std::size_t i = round % 2 == 0 ? turn : contenders.size() - 1 - turn;
      result[i].samples.us.push_back(one_round(contenders[i], result[i]));
    }
  return result;
}

void time_cell(const LocalContenders& contenders, const Options& options, Cell& cell) {
  std::vector<Repeat> chosen{contenders.memcpy};
  std::vector<Turns*> places{&cell.memcpy};
  const auto add = [&](std::optional<Turns>& place, const Repeat& contender) {
    if (!place) return;
    chosen.push_back(contender);
    places.push_back(&*place);
  };
  add(cell.native, contenders.native);
  add(cell.sumac, contenders.sumac);
  add(cell.loop, contenders.loop);
  const std::vector<Turns> turns =
      take_turns(chosen, {options.rounds, options.iterations, options.seconds});
  for (std::size_t i = 0; i < turns.size(); i++) *places[i] = turns[i];
}

Repeat repeat_memcpy(void* to, const void* from, std::size_t bytes) {
  return [=](int calls) {
    for (int i = 0; i < calls; i++) {
      std::memcpy(to, from, bytes);
      asm volatile("" ::: "memory");
    }
  };
}

}  // namespace sumac::bench

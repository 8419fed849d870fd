// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include <algorithm>
#include <cstring>

#include "timing.h"

namespace sumac::bench {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr int kChunk = 5;  // warm-up calls between two looks at the clock
constexpr int kFewestIterations = 3;
constexpr int kMostIterations = 10000;

struct Plan {
  int rounds, iterations;
};

// One contender at one size.
struct Bout {
  const Case& test;
  const Buffers& buffers;
  const World& world;
  std::int64_t overhead_ns;

  // New data to send; see the head of measure.h. An in-place call has its data restored, so that
  // sums of sums do not run off to infinity.
  void refresh() const {
    if (test.collective == Collective::barrier) return;
    if (test.in_place) {
      std::memcpy(buffers.recv(), buffers.send(), test.bytes());
      return;
    }
    const bool bcast = test.collective == Collective::bcast;
    if (bcast && world.rank != test.root) return;
    std::byte* const data = bcast ? buffers.recv() : buffers.send();
    for (std::size_t i = 0; i < test.bytes(); i += kCacheLine) data[i] ^= std::byte{1};
  }

  void run(const Functions& functions, int calls, float* us) const {
    for (int i = 0; i < calls; i++) {
      refresh();
      world.called.barrier(world.comm);
      const std::int64_t start = now_ns();
      issue(functions, test, buffers, world.rank, world.comm);
      const std::int64_t taken = now_ns() - start - overhead_ns;
      us[i] = static_cast<float>(std::max<std::int64_t>(taken, 0)) / 1000;
    }
  }
};

// Returns how many seconds one call of each contender takes, with all that stands around it.
double warm_up(const std::vector<Functions>& contenders, const Bout& bout, const Options& options) {
  float unused[kChunk];
  const std::int64_t start = now_ns();
  std::int64_t fastest = INT64_MAX;
  int calls = 0;
  bool more = true;
  while (more) {
    const std::int64_t chunk_start = now_ns();
    for (const Functions& contender : contenders) bout.run(contender, kChunk, unused);
    const std::int64_t now = now_ns();
    fastest = std::min(fastest, now - chunk_start);
    calls += kChunk;
    const bool time_left = static_cast<double>(now - start) < options.seconds * 0.5e9;
    more = bout.world.from_rank_0(calls < options.warmup && time_left);
  }
  return static_cast<double>(fastest) / kChunk * 1e-9;
}

// As many calls as fit into the time; fewer rounds where even the fewest calls do not.
Plan plan(const Options& options, double seconds_per_iteration) {
  if (options.iterations > 0) return {options.rounds, options.iterations};
  const double total = options.seconds / std::max(seconds_per_iteration, 1e-9);
  const int rounds =
      static_cast<int>(std::clamp(2 * total / kFewestIterations,
                                  std::min(3.0, double(options.rounds)), double(options.rounds)));
  const double iterations = std::clamp<double>(total / rounds, kFewestIterations, kMostIterations);
  return {rounds, static_cast<int>(iterations)};
}

Samples gather(const std::vector<float>& mine, const Plan& plan, const World& world) {
  Samples samples{world.ranks, plan.rounds, plan.iterations, {}};
  if (world.rank == 0) samples.us.resize(mine.size() * static_cast<std::size_t>(world.ranks));
  const int count = static_cast<int>(mine.size());
  MPI_Gather(mine.data(), count, MPI_FLOAT, samples.us.data(), count, MPI_FLOAT, 0, world.control);
  return samples;
}

}  // namespace

std::vector<Samples> measure(const std::vector<Functions>& contenders, const Case& test,
                             const Options& options, const Buffers& buffers, const World& world) {
  const Bout bout{test, buffers, world, timer_overhead_ns()};
  const double cost = warm_up(contenders, bout, options);
  const Plan chosen = world.from_rank_0(plan(options, cost));
  const auto block = static_cast<std::size_t>(chosen.iterations);
  std::vector<std::vector<float>> us(contenders.size());
  for (auto& samples : us) samples.resize(block * static_cast<std::size_t>(chosen.rounds));
  for (int round = 0; round < chosen.rounds; round++) {
    for (std::size_t turn = 0; turn < contenders.size(); turn++) {
      const std::size_t i = round % 2 == 0 ? turn : contenders.size() - 1 - turn;
      bout.run(contenders[i], chosen.iterations, &us[i][block * static_cast<std::size_t>(round)]);
    }
  }
  std::vector<Samples> result;
  for (const auto& samples : us) result.push_back(gather(samples, chosen, world));
  return result;
}

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "measure.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "stats.h"
#include "timing.h"

namespace sumac::bench {
namespace {

constexpr int kChunk = 5;  // warm-up calls between two readings of the clock
constexpr int kFewestIterations = 3;
constexpr int kMostIterations = 10000;
constexpr int kMostTries = 3;  // for each planned round, on a machine that changes

struct Plan {
  int rounds, iterations;
};

// Returns the seconds for one call of each block, including the set-up around it.
double warm_up(const std::vector<Block>& blocks, const Options& options, const World& world) {
  float unused[kChunk];
  const std::int64_t start = now_ns();
  std::int64_t fastest = INT64_MAX;
  int calls = 0;
  bool more = true;
  while (more) {
    const std::int64_t chunk_start = now_ns();
    for (const Block& block : blocks) block(kChunk, unused);
    const std::int64_t now = now_ns();
    fastest = std::min(fastest, now - chunk_start);
    calls += kChunk;
    const bool time_left = static_cast<double>(now - start) < options.seconds * 0.5e9;
    more = world.from_rank_0(calls < options.warmup && time_left);
  }
  return static_cast<double>(fastest) / kChunk * 1e-9;
}

// Plans as many calls as fit into the time; where even the fewest do not fit, fewer rounds.
Plan plan(const Options& options, double seconds_per_iteration) {
  if (options.iterations > 0) return {options.rounds, options.iterations};
  const double total = options.seconds / std::max(seconds_per_iteration, 1e-9);
  const int rounds =
      static_cast<int>(std::clamp(2 * total / kFewestIterations,
                                  std::min(3.0, double(options.rounds)), double(options.rounds)));
  const double iterations = std::clamp<double>(total / rounds, kFewestIterations, kMostIterations);
  return {rounds, static_cast<int>(iterations)};
}

Samples gather(const std::vector<float>& mine, const Plan& plan, const SteadyRounds& steady,
               const World& world) {
  Samples samples{world.ranks, plan.rounds,      plan.iterations,
                  {},          steady.line_ns(), steady.dropped()};
  if (world.rank == 0) samples.us.resize(mine.size() * static_cast<std::size_t>(world.ranks));
  const int count = static_cast<int>(mine.size());
  MPI_Gather(mine.data(), count, MPI_FLOAT, samples.us.data(), count, MPI_FLOAT, 0, world.control);
  return samples;
}

// Times the first calls of each block. The sample of a rank is the mean of its calls, as the dear
// ones are among them. The blocks come in turn first.
std::vector<Samples> cold_calls(const std::vector<Block>& blocks, int calls, bool reversed,
                                const World& world) {
  std::vector<std::vector<float>> means(blocks.size());
  SteadyRounds steady(world.line_ns());
  for (std::size_t turn = 0; turn < blocks.size(); turn++) {
    const std::size_t i = reversed ? blocks.size() - 1 - turn : turn;
    std::vector<float> us(static_cast<std::size_t>(calls));
    blocks[i](calls, us.data());
    means[i] = {std::accumulate(us.begin(), us.end(), 0.0f) / static_cast<float>(calls)};
  }
  if (!steady.add(world.line_ns())) steady.keep_last();
  std::vector<Samples> result;
  for (const auto& mean : means) result.push_back(gather(mean, {1, 1}, steady, world));
  return result;
}

}  // namespace

std::vector<Samples> in_rounds(const std::vector<Block>& blocks, const Options& options,
                               const World& world) {
  const double cost = warm_up(blocks, options, world);
  Plan chosen = world.from_rank_0(plan(options, cost));
  const auto length = static_cast<std::size_t>(chosen.iterations);
  std::vector<std::vector<float>> us(blocks.size());
  for (auto& samples : us) samples.resize(length * static_cast<std::size_t>(chosen.rounds));
  SteadyRounds steady(world.line_ns());
  int kept = 0;
  for (int tries = chosen.rounds * kMostTries; kept < chosen.rounds && tries > 0; tries--) {
    for (std::size_t turn = 0; turn < blocks.size(); turn++) {
      const std::size_t i = kept % 2 == 0 ? turn : blocks.size() - 1 - turn;
      blocks[i](chosen.iterations, &us[i][length * static_cast<std::size_t>(kept)]);
    }
    const double after = world.line_ns();
    kept += world.from_rank_0(world.rank == 0 && steady.add(after) ? 1 : 0);
  }
  if (kept == 0) {  // the last was written where the first belongs
    steady.keep_last();
    kept = 1;
  }
  chosen.rounds = kept;
  for (auto& samples : us) samples.resize(length * static_cast<std::size_t>(kept));
  std::vector<Samples> result;
  for (const auto& samples : us) result.push_back(gather(samples, chosen, steady, world));
  return result;
}

namespace {

constexpr std::size_t kCacheLine = 64;

// Restores the data of an in-place call, so that repeated sums do not grow to infinity.
void refresh(const Case& test, const Buffers& buffers, int rank) {
  const CollectiveInfo& info = info_of(test.collective);
  if (!info.has_data) return;
  if (test.in_place) {
    std::memcpy(buffers.recv(), buffers.send(), test.bytes());
    return;
  }
  const bool bcast = info.arguments == ArgumentKind::bcast;
  if (bcast && rank != test.root) return;
  std::byte* const data = bcast ? buffers.recv() : buffers.send();
  for (std::size_t i = 0; i < test.bytes(); i += kCacheLine) data[i] ^= std::byte{1};
}

}  // namespace

void Setting::prepare() const {
  refresh(test, buffers, world.rank);
  world.called.barrier(world.comm);
}

namespace {

// Until Sumac serves a communicator, and one more.
constexpr int kCalls = 4;

double first_calls_us(const World& world, MPI_Comm comm) {
  world.native.barrier(world.control);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kCalls; i++) world.called.barrier(comm);
  const double own = (MPI_Wtime() - begin) * 1e6;
  double longest = 0;
  world.native.reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, world.control);
  return longest;
}

}  // namespace

SetUp set_up(const World& world) {
  SetUp result;
  result.first = first_calls_us(world, world.comm);
  // The first of its kind may still load or map something.
  for (int i = 0; i < 2; i++) {
    MPI_Comm other;
    MPI_Comm_dup(world.comm, &other);
    result.next = first_calls_us(world, other);
    MPI_Comm_free(&other);
  }
  return result;
}

namespace {

Block whole_calls(RepeatedCall& call, const Setting& setting) {
  return [&call, &setting](int calls, float* us) {
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time([&] { call.run(); });
    }
  };
}

Block starts(RepeatedCall& call, const Setting& setting) {
  return [&call, &setting](int calls, float* us) {
    for (int i = 0; i < calls; i++) {
      setting.prepare();
      us[i] = setting.time([&] { call.start(); });
      call.wait();
    }
  };
}

}  // namespace

std::vector<Times> measure(const Calls& calls, const Setting& setting, const Options& options) {
  std::vector<Block> blocks;
  for (const auto& call : calls) blocks.push_back(whole_calls(*call, setting));
  for (const auto& call : calls)
    if (call->kind() != Kind::blocking) blocks.push_back(starts(*call, setting));
  const World& world = setting.world;
  const bool reversed = std::bit_width(setting.test.bytes()) % 2 == 1;
  std::vector<Samples> samples = options.cold > 0
                                     ? cold_calls(blocks, options.cold, reversed, world)
                                     : in_rounds(blocks, options, world);
  std::vector<Times> result;
  for (std::size_t i = 0, start = calls.size(); i < calls.size(); i++) {
    result.push_back({std::move(samples[i]), {}});
    if (calls[i]->kind() != Kind::blocking) result.back().start = std::move(samples[start++]);
  }
  return result;
}

}  // namespace sumac::bench

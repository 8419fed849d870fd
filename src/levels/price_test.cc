// SPDX-License-Identifier: BSD-3-Clause
// The tests compare prices with counts by hand.
#include "levels/price.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "levels/stage_works.h"
#include "rules/rules.h"

namespace sumac {
namespace {

constexpr std::uint64_t kK = 1024;
constexpr std::size_t kWhole = std::size_t{1} << 40;  // more than any message

struct Case {
  Algorithm algorithm;
  int ranks;
  std::uint64_t bytes, steps, busiest, total;
  std::uint16_t radix = 2;
  std::uint32_t chunk = 0;
};

Traffic priced(const Case& c, int root = 0, StagePlan stage = {}) {
  stage.work = &kWholeChunks;
  stage.algorithm = c.algorithm;
  stage.radix = c.radix;
  stage.root = root;
  LevelGroup group;
  group.size = c.ranks;
  CallPlan plan;
  plan.chunks = {c.bytes, c.chunk ? c.chunk : kWhole, kCacheLine};
  return price(plan, stage, group, {Collective::allreduce, c.bytes});
}

std::uint64_t total_of(const std::vector<Message>& messages) {
  std::uint64_t total = 0;
  for (const Message& message : messages) total += message.bytes;
  return total;
}

// A message may be too short to have a part for each rank of a node.
TEST(Cost, OfARankWithoutAPart) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (info_of(algorithm).needs != Needs::messages) continue;
    if (info_of(algorithm).collective != Collective::allreduce) continue;
    StagePlan stage;
    stage.kind = StagePlan::Kind::exchange;
    const Traffic none = priced({algorithm, 6, 0, 0, 0, 0}, 0, stage);
    EXPECT_EQ(none.cost.steps, 0u) << name_of(algorithm);
    EXPECT_EQ(none.cost.bytes, 0u) << name_of(algorithm);
  }
}

TEST(Cost, OfMessages) {
  const Case cases[] = {
      // Each of 3 rounds sends everything; two ranks need one round.
      {Algorithm::allreduce_recursive_doubling, 2, 800, 1, 800, 1600},
      {Algorithm::allreduce_recursive_doubling, 8, 800, 3, 2400, 8 * 2400},
      // Rank 1 gives everything to rank 0, which exchanges with rank 2 and gives it back.
      {Algorithm::allreduce_recursive_doubling, 3, 800, 3, 1600, 4 * 800},
      // With radix 4, 16 ranks exchange with three others at once.
      {Algorithm::allreduce_recursive_doubling, 16, 100, 2, 600, 16 * 600, 4},
      {Algorithm::allreduce_rabenseifner, 2, 800, 2, 800, 1600},
      // The bytes are 400 + 200 + 100, twice.
      {Algorithm::allreduce_rabenseifner, 8, 800, 6, 1400, 8 * 1400},
      {Algorithm::allreduce_rabenseifner, 5, 800, 6, 1200 + 800, 4 * 1200 + 2 * 800},
      // Parts are whole cache lines.
      {Algorithm::allreduce_ring, 4, 1024, 6, 1536, 4 * 1536},
      {Algorithm::allreduce_ring, 5, 1280, 8, 2048, 5 * 2048},
      // Parts have 64, 64 and 32 bytes. A rank sends twice all but one of them, and all parts go
      // through every link but one.
      {Algorithm::allreduce_ring, 3, 160, 4, 224, 2 * 2 * 160},
      {Algorithm::reduce_knomial, 8, 100, 3, 100, 700},
      {Algorithm::bcast_knomial, 8, 100, 3, 300, 700},
      // With radix 4 the root has children 1 2 3 4 8 12 (16 ranks), or 1 2 3 4 (5 ranks).
      {Algorithm::bcast_knomial, 16, 100, 2, 600, 1500, 4},
      {Algorithm::bcast_knomial, 5, 100, 2, 400, 400, 4},
      // There are 3 links and 5 chunks; the steps are those of one chunk.
      {Algorithm::bcast_chain, 4, 20 * kK, 3, 20 * kK, 60 * kK, 2, 4 * kK},
      // The root scatters 400 + 200 + 100 and gives the same in the gathering; all others get 800.
      {Algorithm::bcast_scatter_allgather, 8, 800, 6, 1400, 7 * 800},
      {Algorithm::bcast_scatter_allgather, 5, 800, 5, 1200 + 800, 4 * 800},
      // There are 3 chunks of 2048 bytes, in parts of 704, 704 and 640.
      {Algorithm::allreduce_ring, 3, 6144, 4, 3 * 2752, 4 * 6144, 2, 2176},
      {Algorithm::reduce_chain, 3, 100, 2, 100, 200, 2, 4 * kK},
      {Algorithm::reduce_chain, 3, 0, 2, 0, 0, 2, 4 * kK},
  };
  for (const Case& c : cases) {
    const Traffic traffic = priced(c);
    const Cost& cost = traffic.cost;
    const char* name = info_of(c.algorithm).name;
    EXPECT_TRUE(cost.known) << name;
    EXPECT_EQ(cost.steps, c.steps) << name << " " << c.ranks;
    EXPECT_EQ(cost.bytes, c.busiest) << name << " " << c.ranks;
    EXPECT_EQ(total_of(traffic.messages), c.total) << name << c.ranks;
  }
}

TEST(Cost, InSharedMemory) {
  const Case cases[] = {
      {Algorithm::allreduce_flat_lines, 4, 800, 1, 3200, 0},
      {Algorithm::allreduce_flat_slots, 2, 64 * kK, 2, 128 * kK, 0},
      {Algorithm::allreduce_split_slots, 4, 64 * kK, 3, 160 * kK, 0},
      {Algorithm::allreduce_single_copy, 4, 64 * kK, 2, 96 * kK, 0},
      {Algorithm::reduce_flat_lines, 2, 800, 1, 800, 0},
      {Algorithm::reduce_flat_slots, 4, 100 * kK, 4, 300 * kK, 0},
      {Algorithm::reduce_split_slots, 4, 64 * kK, 3, 160 * kK, 0},
      {Algorithm::reduce_single_copy, 4, 64 * kK, 2, 64 * kK, 0},
      {Algorithm::bcast_lines, 4, 8, 1, 8, 0},
      {Algorithm::bcast_slots, 4, 32 * kK, 1, 32 * kK, 0},
      {Algorithm::bcast_single_copy, 4, 64 * kK, 2, 48 * kK, 0},
      {Algorithm::barrier_flat, 4, 0, 1, 0, 0},
  };
  for (const Case& c : cases) {
    const Traffic traffic = priced(c);
    const Cost& cost = traffic.cost;
    EXPECT_TRUE(cost.known);
    EXPECT_EQ(cost.steps, c.steps) << info_of(c.algorithm).name;
    EXPECT_EQ(cost.bytes, c.busiest) << info_of(c.algorithm).name;
    EXPECT_TRUE(traffic.messages.empty());
  }
}

// Every rank but the root is reached by exactly one path, whatever the root.
TEST(Cost, TreesReachEveryRankOnce) {
  for (int ranks : {2, 3, 7, 16, 33}) {
    for (int root = 0; root < ranks; root += 5) {
      for (std::uint16_t radix : {2, 3, 4, 64}) {
        for (const Algorithm algorithm : kAllAlgorithms) {
          const AlgorithmInfo& info = info_of(algorithm);
          if (info.collective != Collective::bcast || info.needs != Needs::messages) continue;
          // Its bytes take many paths.
          if (algorithm == Algorithm::bcast_scatter_allgather) continue;
          std::map<int, int> parents;
          for (const Message& m : priced({algorithm, ranks, 8, 0, 0, 0, radix}, root).messages) {
            EXPECT_TRUE(parents.emplace(m.to, m.from).second);
          }
          EXPECT_EQ(parents.size(), static_cast<std::size_t>(ranks - 1));
          for (const auto& [rank, parent] : parents) {
            int at = rank, hops = 0;
            while (at != root && ++hops < ranks) at = parents.at(at);
            EXPECT_EQ(at, root);
          }
        }
      }
    }
  }
}

// In every broadcast over messages each rank but the root gets every byte once.
TEST(Cost, BroadcastsSendNoByteTwice) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.collective != Collective::bcast || info.needs != Needs::messages) continue;
    for (int ranks : {2, 3, 7, 16, 33}) {
      for (std::uint64_t bytes : {8, 1000}) {
        const int root = ranks / 2;
        std::vector<std::uint64_t> got(static_cast<std::size_t>(ranks));
        for (const Message& m : priced({algorithm, ranks, bytes, 0, 0, 0}, root).messages) {
          got[static_cast<std::size_t>(m.to)] += m.bytes;
        }
        for (int rank = 0; rank < ranks; ++rank) {
          EXPECT_EQ(got[static_cast<std::size_t>(rank)], rank == root ? 0 : bytes)
              << info.name << " " << ranks;
        }
      }
    }
  }
}

// The cost is known for every row that is carried out in one group.
TEST(Cost, IsKnownWhereSumacDecides) {
  EXPECT_FALSE(priced({Algorithm::native, 4, 8, 0, 0, 0}).cost.known);
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    const bool decides = over_of(info.needs) != Over::levels;
    const Cost cost = priced({algorithm, 4, 8, 0, 0, 0}).cost;
    EXPECT_EQ(cost.known, decides) << info.name;
    EXPECT_EQ(cost.steps > 0, decides) << info.name;
    EXPECT_EQ(priced({algorithm, 1, 8, 0, 0, 0}).cost.steps, 0U) << info.name;
  }
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The tests compare predicted times with those that were measured, and with one another.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "algorithms/table.h"
#include "levels/price.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

constexpr std::uint64_t kMost = 4 << 20;

double predicted(Algorithm algorithm, int ranks, std::uint64_t bytes) {
  GroupCall call;
  call.ranks = ranks;
  call.bytes = bytes;
  call.element = 4;
  return predicted_time(entry_of(algorithm).cost(call).cost.work);
}

// Returns the most bytes that an algorithm takes here.
std::uint64_t most_of(Algorithm algorithm) {
  return info_of(algorithm).needs == Needs::lines ? kLinesData : kMost;
}

template <class Test>
void for_all_in_memory(Test test) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    if (over_of(info_of(algorithm).needs) == Over::shm) test(algorithm);
  }
}

Algorithm find(const std::string& collective, const std::string& name) {
  Algorithm found = Algorithm::native;
  for_all_in_memory([&](Algorithm algorithm) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (name_of(info.collective) == collective && info.name == name) found = algorithm;
  });
  return found;
}

// Each line has a source, collective, algorithm, ranks, bytes, microseconds, and the reason why it
// is left out, if it is.
TEST(Prediction, IsOffByNoMoreThanIsSaid) {
  constexpr double kOffAtMost = 1.7;
  std::ifstream file(SUMAC_MEASURED);
  std::string line, source, collective, name, ranks, bytes, time, left_out;
  std::getline(file, line);
  double squares = 0;
  int rows = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    for (std::string* field : {&source, &collective, &name, &ranks, &bytes, &time, &left_out}) {
      field->clear();
      std::getline(fields, *field, ',');
    }
    if (!left_out.empty()) continue;
    const Algorithm algorithm = find(collective, name);
    ASSERT_NE(algorithm, Algorithm::native) << line;
    const double measured = 1000 * std::stod(time);
    const double off =
        std::log(predicted(algorithm, std::stoi(ranks), std::stoull(bytes)) / measured);
    EXPECT_LT(std::abs(off), std::log(kOffAtMost)) << line;
    EXPECT_GE(std::stoi(ranks), kFit.least_ranks);
    EXPECT_LE(std::stoi(ranks), kFit.most_ranks);
    squares += off * off;
    ++rows;
  }
  EXPECT_GT(rows, 50);
  EXPECT_NEAR(std::exp(std::sqrt(squares / rows)), kFit.off_by, 0.02);
}

// An all-to-all of blocks of any sizes goes by lines as long as they have room, even where slots
// would be faster.
TEST(Prediction, GrowsWithBytes) {
  for_all_in_memory([](Algorithm algorithm) {
    if (info_of(algorithm).collective == Collective::alltoallv) return;
    for (int ranks : {2, 3, 8, 16, 17, 100, 256}) {
      double last = 0;
      for (std::uint64_t bytes = 8; bytes <= most_of(algorithm); bytes *= 2) {
        const double time = predicted(algorithm, ranks, bytes);
        EXPECT_GT(time, 0) << info_of(algorithm).name;
        EXPECT_GE(time, last) << info_of(algorithm).name << " " << ranks << " " << bytes;
        last = time;
      }
    }
  });
}

// Where each rank has a vector of the same size, or the root has one. Beyond 16 ranks two_steps has
// runs of neighbours, and needs fewer lines.
TEST(Prediction, GrowsWithRanks) {
  for_all_in_memory([](Algorithm algorithm) {
    const bool same = info_of(info_of(algorithm).collective).divided == Divided::whole;
    if (!same || algorithm == Algorithm::allreduce_two_steps) return;
    for (std::uint64_t bytes = 8; bytes <= most_of(algorithm); bytes *= 8) {
      double last = 0;
      for (int ranks : {2, 4, 8, 16, 32, 64, 128, 256}) {
        const double time = predicted(algorithm, ranks, bytes);
        EXPECT_GE(time, last) << info_of(algorithm).name << " " << ranks << " " << bytes;
        last = time;
      }
    }
  });
}

TEST(Prediction, SaysFromWhichRanksOnTwoStepsAreFaster) {
  constexpr auto kFlat = Algorithm::allreduce_flat_lines, kTwo = Algorithm::allreduce_two_steps;
  EXPECT_LT(predicted(kFlat, 16, 8), predicted(kTwo, 16, 8));
  EXPECT_GT(predicted(kFlat, 32, 8), predicted(kTwo, 32, 8));
}

TEST(Prediction, IsOfSharedMemoryAlone) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    CostFn* const cost = entry_of(algorithm).cost;
    if (!cost || over_of(info_of(algorithm).needs) == Over::shm) continue;
    GroupCall call;
    call.ranks = 8;
    call.bytes = 4096;
    EXPECT_EQ(cost(call).cost.work, SharedWork()) << info_of(algorithm).name;
  }
}

TEST(Prediction, AddsChunks) {
  StagePlan stage;
  stage.work = &kWholeChunks;
  stage.algorithm = Algorithm::bcast_slots;
  LevelGroup group;
  group.size = 8;
  CallPlan plan;
  plan.chunks = {10 << 10, 4 << 10, kCacheLine};
  ASSERT_EQ(plan.chunks.count(), 3U);
  double sum = 0;
  for (std::size_t chunk = 0; chunk < 3; ++chunk) {
    sum += predicted(stage.algorithm, 8, plan.chunks[chunk].bytes);
  }
  const Cost cost = price(plan, stage, group, {Collective::bcast, 10 << 10}).cost;
  EXPECT_DOUBLE_EQ(predicted_time(cost.work), sum);
}

}  // namespace
}  // namespace sumac

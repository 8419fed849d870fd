// SPDX-License-Identifier: BSD-3-Clause
// This makes calls on one rank alone, with times that a test decides, and says how each goes by its
// trial. The rank agrees with itself.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "testing/trial_calls.h"

namespace sumac::testing {

inline constexpr Collective kAllreduce = Collective::allreduce;
inline constexpr std::size_t kBytes = 1000;

// A reduction over one rank leaves the words as they are.
struct LoneOob final : Oob {
  void all_gather(const void*, void*, std::size_t) override {}
  void gather(const void*, void*, std::size_t) override {}
  bool all_gather_among(const RankList&, const void*, void*, std::size_t) override { return true; }
  void all_and(std::uint64_t*, std::size_t) override {}
  void all_max(std::uint64_t*, std::size_t) override { ++agreements; }
  void broadcast(void*, std::size_t) override {}
  bool make_messages(std::shared_ptr<Messages>&) override { return false; }
  void drive() override {}
  void end_job() override {}
  int agreements = 0;
};

inline const Turn kRules;
inline Turn kept(Route route, int candidate) {
  return {route, static_cast<std::uint8_t>(candidate)};
}
inline constexpr Choice kSplit{Algorithm::allreduce_split_slots},
    kFlat{Algorithm::allreduce_flat_slots};

// These are one rank's calls of one class.
struct Calls {
  explicit Calls(std::vector<Choice> its_others = {}, Results its_results = Results::any)
      : others(std::move(its_others)), results(its_results) {
    open_all(trials);
  }
  Turn next(const std::vector<std::uint64_t>& times = {1, 1, 1, 1}) {
    return call_once(trials, {kAllreduce, kBytes, results}, oob, others,
                     [&](int candidate) { return times[static_cast<std::size_t>(candidate)]; });
  }
  // Expects that all of the next `count` calls are `turn`.
  void expect(std::uint32_t count, Turn turn) {
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(next(), turn) << i;
  }
  // Plays a comparison to its end, with the calls that pay for it in between. Returns how many
  // calls each candidate had.
  std::map<int, int> compare(const std::vector<std::uint64_t>& times) {
    std::map<int, int> turns;
    for (Turn turn = next(times);; turn = next(times)) {
      if (turn.kind == TurnKind::none) continue;
      ++turns[turn.candidate];
      Trial& trial = trials.of(kAllreduce, kBytes, results);
      if (!trial.is_over()) continue;
      settle(trials, oob);
      if (!trial.is_comparing()) return turns;
    }
  }
  // Returns how many calls come before the comparison.
  std::uint32_t before() const {
    const bool with_mpi = results == Results::any;
    return Comparison::calls_before(static_cast<int>(1 + others.size()) + with_mpi, with_mpi);
  }
  bool is_awake() { return testing::is_awake(trials, kAllreduce, kBytes, false); }

  std::vector<Choice> others;
  Results results;
  Trials trials;
  LoneOob oob;
};

}  // namespace sumac::testing

// SPDX-License-Identifier: BSD-3-Clause
// `sumac plan` and tests ask what a plan costs. No call of the program uses this.
#pragma once

#include "algorithms/cost.h"
#include "levels/call_plan.h"

namespace sumac {

// Returns what a stage of a plan costs its group: the steps of one chunk, the bytes of all chunks.
// There are no messages if the ranks send none or the MPI chooses.
Traffic price(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
              const CallShape& shape);

// Predicts how long a stage takes its group, in nanoseconds: 0 if it does no work that was counted.
// The ranks share memory, each with a processor of its own.
double predicted_time(const SharedWork& work);

// The prediction was fitted to measurements among so many ranks, and is off by these factors
// (root mean square): there, and among 16 ranks if these are left out of the fit. Nobody has
// measured more ranks, or several sockets. experiments/node_model computes the factors.
struct Fit {
  int least_ranks, most_ranks;
  double off_by, off_beyond;
};
inline constexpr Fit kFit{4, 16, 1.2, 1.45};

// ---- For the prices of stages (StageWork) ----

// Returns what the stage's algorithm costs if all its chunks are like the first one, but for the
// last.
Traffic price_of_chunks(const StagePlan& stage, const LevelGroup& group, std::size_t first,
                        std::size_t last, std::size_t chunks, std::size_t element);

// Returns what the chunks cost that `price_of(chunk)` prices one by one.
template <class PriceOf>
Traffic price_of_each(std::size_t chunks, PriceOf price_of) {
  Traffic all = traffic_in_memory(0, 0);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const Traffic one = price_of(chunk);
    all.cost.known &= one.cost.known;
    all.cost.steps = std::max(all.cost.steps, one.cost.steps);
    all.cost.bytes += one.cost.bytes;
    all.cost.work.add(one.cost.work);
    all.messages.insert(all.messages.end(), one.messages.begin(), one.messages.end());
  }
  return all;
}

}  // namespace sumac

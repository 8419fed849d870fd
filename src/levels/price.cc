// SPDX-License-Identifier: BSD-3-Clause
#include "levels/price.h"

#include "algorithms/table.h"

namespace sumac {
namespace {

// Returns the traffic of all chunks: the last one may be smaller, all others have the size of the
// first.
Traffic of_all(Traffic first, const Traffic& last, std::uint64_t chunks) {
  const auto sum = [chunks](std::uint64_t& bytes, std::uint64_t last_bytes) {
    bytes = (chunks - 1) * bytes + last_bytes;
  };
  sum(first.cost.bytes, last.cost.bytes);
  SharedWork work = last.cost.work;
  work.add(first.cost.work, chunks - 1);
  first.cost.work = work;
  for (std::size_t i = 0; i < first.messages.size(); ++i) {
    sum(first.messages[i].bytes, last.messages[i].bytes);
  }
  return first;
}

}  // namespace

Traffic price_of_chunks(const StagePlan& stage, const LevelGroup& group, std::size_t first,
                        std::size_t last, std::size_t chunks, std::size_t element) {
  CostFn* const cost = entry_of(stage.algorithm).cost;
  if (!cost) return {};
  GroupCall call{group.size, stage.root, first, first, stage.radix, element};
  const Traffic of_first = cost(call);
  call.bytes = last;
  return of_all(of_first, cost(call), chunks);
}

Traffic price(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
              const CallShape& shape) {
  if (stage.algorithm == Algorithm::native) return {};
  // A message may be too short to have a part for each rank. A barrier of one group has no data.
  const bool nothing = stage.kind == StagePlan::Kind::exchange && plan.largest_piece(stage) == 0 &&
                       shape.collective != Collective::barrier;
  if (group.size < 2 || nothing) return traffic_in_memory(0, 0);
  return stage.work->price(plan, stage, group, shape);
}

double predicted_time(const SharedWork& work) {
  double time = 0;
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) \
  time += (nanoseconds) * static_cast<double>(work.name);
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK
  return time;
}

}  // namespace sumac

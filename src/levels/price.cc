// SPDX-License-Identifier: BSD-3-Clause
#include "levels/price.h"

#include "algorithms/table.h"
#include "levels/all_ranks.h"
#include "levels/multi_leader.h"
#include "levels/parts_stage.h"

namespace sumac {
namespace {

// The traffic of all chunks: the last one may be smaller, all others have the size of the first.
Traffic of_all(Traffic first, const Traffic& last, std::uint64_t chunks) {
  const auto sum = [chunks](std::uint64_t& bytes, std::uint64_t last_bytes) {
    bytes = (chunks - 1) * bytes + last_bytes;
  };
  sum(first.cost.bytes, last.cost.bytes);
  for (std::size_t i = 0; i < first.messages.size(); ++i) {
    sum(first.messages[i].bytes, last.messages[i].bytes);
  }
  return first;
}

// What the stage's algorithm costs for so many chunks, all but the last of which are like `first`.
Traffic price_of_chunks(Algorithm algorithm, const GroupCall& first, const GroupCall& last,
                        std::uint64_t chunks) {
  CostFn* const cost = entry_of(algorithm).cost;
  if (!cost) return {};
  return of_all(cost(first), cost(last), chunks);
}

// Of all_ranks and flat.
Traffic price_of_all_ranks(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                           const CallShape& shape) {
  const std::uint64_t chunks = plan.chunks.count();
  const Part first = plan.chunks[0], last = plan.chunks[chunks - 1];
  GroupCall whole{group.size, stage.root, first.bytes, first.bytes, stage.radix, shape.element};
  GroupCall rest = whole;
  if (stage.kind == StagePlan::Kind::exchange) {
    whole.bytes = plan.first.bytes;
    rest.bytes = plan.last.bytes;
    if (whole.bytes == 0) return traffic_in_memory(0, 0);
    return price_of_chunks(stage.algorithm, whole, rest, chunks);
  }
  std::vector<Part> parts, last_parts;
  for (int r = 0; r < group.size; ++r) {
    parts.push_back(parts_of_chunk(first.bytes, shape.element, group.size, plan.parts)[r]);
    last_parts.push_back(parts_of_chunk(last.bytes, shape.element, group.size, plan.parts)[r]);
  }
  whole.listed = parts.data();
  rest.bytes = last.bytes;
  rest.listed = last_parts.data();
  return price_of_chunks(stage.algorithm, whole, rest, chunks);
}

}  // namespace

Traffic price(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
              const CallShape& shape) {
  const Spread& spread = plan.spread;
  const Needs needs = info_of(plan.choice.algorithm).needs;
  if (needs == Needs::levels_all_ranks || needs == Needs::levels_messages) {
    return price_of_all_ranks(plan, stage, group, shape);
  }
  if (spread.count() == 0) return price(stage, group.size, shape, plan.chunks);
  const AlgorithmEntry& entry = entry_of(stage.algorithm);
  const bool gathers = shape.collective == Collective::allgather;
  Traffic all = traffic_in_memory(0, 0);
  std::vector<Part> parts;
  for (std::size_t chunk = 0; chunk < spread.count() && group.size > 1; ++chunk) {
    const Part work = work_of(spread, gathers, stage, group, chunk, parts);
    if (work.bytes == 0) continue;
    const GroupCall call{group.size,  stage.root,    work.bytes,  work.bytes,
                         stage.radix, shape.element, parts.data()};
    const Traffic traffic = entry.cost(call);
    all.cost.steps = std::max(all.cost.steps, traffic.cost.steps);
    all.cost.bytes += traffic.cost.bytes;
    all.messages.insert(all.messages.end(), traffic.messages.begin(), traffic.messages.end());
  }
  return all;
}

Traffic price(const StagePlan& stage, int ranks, const CallShape& shape, const Chunks& chunks) {
  if (stage.algorithm == Algorithm::native) return {};
  if (ranks < 2) return traffic_in_memory(0, 0);
  GroupCall call{ranks, stage.root, shape.bytes, chunks[0].bytes, stage.radix, shape.element};
  if (stage.passive) return traffic_in_memory(1, others_vectors(call));
  const bool through_slots = info_of(stage.algorithm).needs == Needs::levels_equal_nodes;
  if (through_slots && stage.kind == StagePlan::Kind::scatter) return {scatter_cost(call), {}};
  if (through_slots && stage.kind == StagePlan::Kind::gather) return {gather_cost(call), {}};
  call.bytes = chunks[0].bytes;
  GroupCall last = call;
  last.bytes = chunks[chunks.count() - 1].bytes;
  return price_of_chunks(stage.algorithm, call, last, chunks.count());
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "levels/price.h"

#include "algorithms/table.h"
#include "levels/all_ranks.h"
#include "levels/multi_leader.h"
#include "levels/parts_stage.h"

namespace sumac {
namespace {

// Returns the traffic of all chunks: the last one may be smaller, all others have the size of the
// first.
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

// Returns what the stage's algorithm costs for so many chunks. All but the last are like `first`.
Traffic price_of_chunks(Algorithm algorithm, const GroupCall& first, const GroupCall& last,
                        std::uint64_t chunks) {
  CostFn* const cost = entry_of(algorithm).cost;
  if (!cost) return {};
  return of_all(cost(first), cost(last), chunks);
}

// Prices a chunk that slow ranks hand over: the messages between them and their peers, in either
// direction, and those of the fast ranks, which come first in the group.
Traffic price_of_handed(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                        GroupCall call) {
  call.ranks = plan.parts;
  Traffic all = traffic_in_memory(0, 0);
  if (plan.parts > 1) all = entry_of(stage.algorithm).cost(call);
  for (int slow = plan.parts; slow < group.size; ++slow) {
    const int peer = peer_of_slow(slow, plan.parts);
    const bool up = stage.kind == StagePlan::Kind::scatter;
    all.messages.push_back({up ? slow : peer, up ? peer : slow, call.bytes});
    all.cost.bytes += call.bytes;
  }
  ++all.cost.steps;
  return all;
}

// Prices the stage in which the root gets the parts of the chunks from the others of its node, or
// sends them.
Traffic price_at_root(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                      const CallShape& shape) {
  Traffic all = traffic_in_memory(1, 0);
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(plan.parts));
  for (std::size_t c = 0; c < plan.chunks.count(); ++c) {
    const Parts parts = parts_of_chunk(plan.chunks[c].bytes, shape.element, group.size, plan.parts);
    for (int rank = 0; rank < plan.parts; ++rank) {
      if (rank != stage.root) sent[static_cast<std::size_t>(rank)] += parts[rank].bytes;
    }
  }
  for (int rank = 0; rank < plan.parts; ++rank) {
    const std::uint64_t bytes = sent[static_cast<std::size_t>(rank)];
    const bool sends = stage.kind == StagePlan::Kind::scatter;
    all.messages.push_back({sends ? stage.root : rank, sends ? rank : stage.root, bytes});
    all.cost.bytes = sends ? all.cost.bytes + bytes : std::max(all.cost.bytes, bytes);
  }
  return all;
}

// Prices a stage of all_ranks within the node.
Traffic price_within(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                     const CallShape& shape) {
  const auto at_root = [](Collective collective) {
    return collective == Collective::reduce ? StagePlan::Kind::gather : StagePlan::Kind::scatter;
  };
  if (info_of(shape.collective).has_root && stage.kind == at_root(shape.collective)) {
    return price_at_root(plan, stage, group, shape);
  }
  if (!entry_of(stage.algorithm).cost) return {};
  Traffic all = traffic_in_memory(0, 0);
  const std::size_t count = plan.chunks.count();
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t bytes = plan.chunks[c].bytes;
    const Parts cut = parts_of_chunk(bytes, shape.element, group.size, plan.parts);
    std::vector<Part> parts;
    for (int r = 0; r < group.size; ++r) parts.push_back(cut[r]);
    const GroupCall call{group.size,  stage.root,    bytes,       bytes,
                         stage.radix, shape.element, parts.data()};
    const bool handed = plan.hands && is_handed(c, count);
    const Traffic one =
        handed ? price_of_handed(plan, stage, group, call) : entry_of(stage.algorithm).cost(call);
    all.cost.known = one.cost.known;
    all.cost.steps = std::max(all.cost.steps, one.cost.steps);
    all.cost.bytes += one.cost.bytes;
    all.messages.insert(all.messages.end(), one.messages.begin(), one.messages.end());
  }
  return all;
}

// Prices a stage of all_ranks or flat.
Traffic price_of_all_ranks(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                           const CallShape& shape) {
  const bool within = is_of_all_ranks(info_of(plan.choice.algorithm).needs) &&
                      stage.kind != StagePlan::Kind::exchange;
  if (within) return price_within(plan, stage, group, shape);
  if (plan.first.bytes == 0) return traffic_in_memory(0, 0);
  const GroupCall whole{group.size,           stage.root,  plan.first.bytes,
                        plan.chunks[0].bytes, stage.radix, shape.element};
  GroupCall rest = whole;
  rest.bytes = plan.last.bytes;
  return price_of_chunks(stage.algorithm, whole, rest, plan.chunks.count());
}

}  // namespace

Traffic price(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
              const CallShape& shape) {
  const Spread& spread = plan.spread;
  const Needs needs = info_of(plan.choice.algorithm).needs;
  if (is_of_all_ranks(needs) || needs == Needs::levels_messages) {
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
  // A rank of multi_leader that has no part exchanges nothing.
  const bool nothing = stage.kind == StagePlan::Kind::exchange && chunks[0].bytes == 0;
  if (ranks < 2 || nothing) return traffic_in_memory(0, 0);
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

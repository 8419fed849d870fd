// SPDX-License-Identifier: BSD-3-Clause
// The plans of all_ranks, and what they cost.
#include "levels/all_ranks.h"

#include "algorithms/table.h"
#include "levels/price.h"

namespace sumac {
namespace {

// So many strands take chunks through the stages if nothing is handed over, and if something is:
// with one chunk of six handed over, all six are under way.
constexpr std::size_t kChunksAtOnce = 4, kWithHanded = kMostWidth;

const AllRanksWorks& works_of(Collective collective) {
  if (collective == Collective::bcast) return kBcastFromRoot;
  return collective == Collective::reduce ? kReduceToRoot : kReduceToAll;
}

// Sets the stage that only the root's node has: the last one of a reduction, in which the root
// gathers, or the first one of a broadcast, in which it scatters. Returns true if this rank is on
// that node.
bool end_at_root(const AgreedLevels& agreed, int root, StagePlan& stage, CallPlan& plan) {
  const int size = agreed.node.group.size, place = agreed.place_of_root(root);
  stage.root = place % size;
  plan.stages[1].root = place / size;
  return agreed.across.group.rank == place / size;
}

void cut(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  const LevelGroup& node = agreed.node.group;
  plan.chunks = chunks_of(shape, plan);
  plan.parts = agreed.parts;
  const auto own = [&](std::size_t chunk) {
    return parts_of_chunk(plan.chunks[chunk].bytes, shape.element, node.size,
                          agreed.parts)[node.rank];
  };
  plan.first = own(0);
  plan.last = own(plan.chunks.count() - 1);
}

void plan_all_ranks(const AgreedLevels& agreed, const CallShape& shape, bool hands,
                    CallPlan& plan) {
  const bool reduces = shape.collective == Collective::reduce;
  const bool spreads = shape.collective == Collective::bcast;
  const auto& [node, choices] = agreed.node;
  cut(agreed, shape, plan);
  plan.hands = hands;
  const std::size_t count = plan.chunks.count();
  plan.strands = std::min(hands ? kWithHanded : kChunksAtOnce, count);
  list_around_exchange(Workers::node, Workers::across, plan.choice.algorithm, plan.stages);
  const AllRanksWorks& works = works_of(shape.collective);
  plan.stages[0].work = &works.scatter;
  plan.stages[1].work = &works.exchange;
  plan.stages[2].work = &works.gather;
  const ChunkSizes within{plan.chunks[0].bytes, count};
  const std::size_t part =
      parts_of_chunk(plan.chunks[0].bytes, shape.element, node.size, agreed.parts)[0].bytes;
  if (!spreads) choose(choices, false, Collective::reduce_scatter, within, plan.stages[0]);
  choose(agreed.across.choices, false, shape.collective, {part, count}, plan.stages[1]);
  if (!reduces) choose(choices, false, Collective::allgather, within, plan.stages[2]);
  if (reduces && !end_at_root(agreed, shape.root, plan.stages[2], plan)) plan.stages.pop_back();
  if (spreads && !end_at_root(agreed, shape.root, plan.stages[0], plan)) {
    plan.stages.erase(plan.stages.begin());
  }
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

}  // namespace

Traffic price_in_node(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                      const CallShape& shape) {
  CostFn* const cost = entry_of(stage.algorithm).cost;
  if (!cost) return {};
  const std::size_t count = plan.chunks.count();
  return price_of_each(count, [&](std::size_t chunk) {
    const std::size_t bytes = plan.chunks[chunk].bytes;
    const Parts cut = parts_of_chunk(bytes, shape.element, group.size, plan.parts);
    std::vector<Part> parts;
    for (int r = 0; r < group.size; ++r) parts.push_back(cut[r]);
    const GroupCall call{group.size,  stage.root,    bytes,       bytes,
                         stage.radix, shape.element, parts.data()};
    const bool handed = plan.hands && is_handed(chunk, count);
    return handed ? price_of_handed(plan, stage, group, call) : cost(call);
  });
}

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

Traffic price_across(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                     const CallShape& shape) {
  return price_of_chunks(stage, group, plan.first.bytes, plan.last.bytes, plan.chunks.count(),
                         shape.element);
}

void plans::all_ranks(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  plan_all_ranks(agreed, shape, false, plan);
}

void plans::all_ranks_peers(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  plan_all_ranks(agreed, shape, true, plan);
}

}  // namespace sumac

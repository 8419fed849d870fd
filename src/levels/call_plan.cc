// SPDX-License-Identifier: BSD-3-Clause
#include "levels/call_plan.h"

#include <algorithm>

#include "levels/all_ranks.h"
#include "levels/multi_leader.h"

namespace sumac {
namespace {

using Kind = StagePlan::Kind;

// A large all-reduce on a single level has no other level to overlap with, so it takes these
// chunks: fewer and larger messages keep the network busy and need fewer polls.
constexpr std::size_t kLargeAlone = 256 << 10, kChunkAlone = 4 << 20;

std::uint32_t most_chunk(const Choice& choice, const CallShape& shape, std::size_t depth) {
  const std::size_t chunk = choice.chunk ? choice.chunk : kDefaultChunk;
  const bool exchanges =
      shape.collective != Collective::reduce && shape.collective != Collective::bcast;
  const bool alone = depth == 1 && exchanges;
  const bool grows = alone && !choice.exact_chunk && shape.bytes >= kLargeAlone;
  return static_cast<std::uint32_t>(grows ? std::max(chunk, kChunkAlone) : chunk);
}

// Returns what a group does with each chunk in a stage of the call.
Collective collective_of(Kind kind, Collective call) {
  switch (kind) {
    case Kind::reduce:
      return Collective::reduce;
    case Kind::bcast:
      return Collective::bcast;
    case Kind::collect:
      return Collective::allgather;
    case Kind::exchange:
    case Kind::scatter:
    case Kind::gather:
      break;
  }
  return has_parts(call) ? call : Collective::allreduce;
}

// Returns the most bytes of a chunk in a stage.
std::size_t most_bytes(const CallPlan& plan, Collective call, const StagePlan& stage,
                       const AgreedLevels& agreed) {
  const bool gathers = call == Collective::allgather;
  const bool piece = has_parts(call) && stage.kind == (gathers ? Kind::collect : Kind::bcast);
  return piece ? plan.spread.piece(0, plan.spread.top_of(agreed.place)).bytes
               : plan.largest_chunk();
}

struct ChunkSizes {
  std::size_t largest, count;
};

// Chooses how a group serves each chunk, by the group's table. `shared` says that the group shares
// memory.
void choose(const ChoiceTable& table, bool shared, Collective collective, const ChunkSizes& chunks,
            StagePlan& stage) {
  const ChoiceRange& range = table.range(collective, chunks.largest);
  stage.algorithm = range.choice.algorithm;
  stage.radix = range.choice.radix;
  stage.rule = range.rule;
  if (stage.algorithm == Algorithm::native) return;  // the group has one rank, which does nothing
  stage.width = shared ? 1 : static_cast<int>(std::min<std::size_t>(kWidth, chunks.count));
}

Chunks whole_chunks(const CallShape& shape, const CallPlan& plan) {
  return {shape.bytes, plan.choice.chunk, std::max(kCacheLine, shape.element)};
}

// Chooses for the ranks of the same place on all nodes, each with its own part.
void choose_exchange(const SendingGroup& across, Collective collective, const ChunkSizes& parts,
                     CallPlan& plan) {
  choose(across.choices, false, collective, parts, plan.stages[1]);
}

void plan_multi_leader(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  const LevelGroup& node = agreed.groups[0];
  list_multi_leader(node, plan.choice.algorithm, plan.stages);
  plan.chunks = part_in_chunks(shape.bytes, node, plan.choice.chunk);
  choose_exchange(agreed.counterparts, Collective::allreduce,
                  {plan.chunks[0].bytes, plan.chunks.count()}, plan);
}

// Returns the kind of the stage of a call among all ranks.
Kind kind_of(Collective collective) {
  if (collective == Collective::reduce) return Kind::reduce;
  return collective == Collective::bcast ? Kind::bcast : Kind::exchange;
}

void plan_flat(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  const auto& [group, choices] = agreed.all;
  StagePlan stage;
  stage.kind = kind_of(shape.collective);
  stage.first = true;
  stage.root = agreed.place_of_root(shape.root);
  plan.stages.assign(1, stage);
  plan.chunks = whole_chunks(shape, plan);
  plan.first = plan.chunks[0];
  plan.last = plan.chunks[plan.chunks.count() - 1];
  choose(choices, false, collective_of(stage.kind, shape.collective),
         {plan.first.bytes, plan.chunks.count()}, plan.stages[0]);
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

void plan_all_ranks(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  const auto& [node, choices] = agreed.node;
  list_multi_leader(node, plan.choice.algorithm, plan.stages);
  plan.chunks = whole_chunks(shape, plan);
  plan.parts = agreed.parts;
  plan.hands = info_of(plan.choice.algorithm).needs == Needs::levels_slow_ranks;
  const std::size_t count = plan.chunks.count();
  const auto parts = [&](std::size_t chunk) {
    return parts_of_chunk(plan.chunks[chunk].bytes, shape.element, node.size, agreed.parts);
  };
  plan.first = parts(0)[node.rank];
  plan.last = parts(count - 1)[node.rank];
  const ChunkSizes within{plan.chunks[0].bytes, count};
  if (shape.collective != Collective::bcast) {
    choose(choices, false, Collective::reduce_scatter, within, plan.stages[0]);
  }
  choose_exchange(agreed.across, shape.collective, {parts(0)[0].bytes, count}, plan);
  if (shape.collective == Collective::reduce) {
    if (!end_at_root(agreed, shape.root, plan.stages[2], plan)) plan.stages.resize(2);
    return;
  }
  choose(choices, false, Collective::allgather, within, plan.stages[2]);
  const bool spreads = shape.collective == Collective::bcast;
  if (spreads && !end_at_root(agreed, shape.root, plan.stages[0], plan)) {
    plan.stages.erase(plan.stages.begin());
  }
}

Algorithm direct_of(Collective collective) {
  if (collective == Collective::allreduce) return Algorithm::allreduce_direct;
  if (collective == Collective::reduce) return Algorithm::reduce_direct;
  return collective == Collective::bcast ? Algorithm::bcast_direct : Algorithm::native;
}

}  // namespace

Algorithm AgreedLevels::choose_direct(Collective collective, std::size_t bytes,
                                      Algorithm otherwise) const {
  if (otherwise == Algorithm::native || info_of(otherwise).needs != Needs::levels) {
    return Algorithm::native;
  }
  const auto in_place = [&](Collective stage) {
    const Algorithm algorithm = direct.choose(stage, bytes).algorithm;
    return algorithm != Algorithm::native && info_of(algorithm).needs == Needs::maps;
  };
  const bool reduces = collective != Collective::bcast, spreads = collective != Collective::reduce;
  if (reduces) {
    if (!in_place(Collective::reduce)) return Algorithm::native;
    // Results have the same bits either way.
    const std::size_t chunk = std::min<std::size_t>(
        bytes, most_chunk(whole.choose(collective, bytes), {collective, bytes}, depth));
    const Algorithm other = choices[0].choose(Collective::reduce, chunk).algorithm;
    if (info_of(other).order != Order::rank) return Algorithm::native;
  }
  if (spreads && !in_place(Collective::bcast)) return Algorithm::native;
  return direct_of(collective);
}

int AgreedLevels::place_of_root(int root) const {
  const std::vector<int>& ranks = all.group.members;
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), root) - ranks.begin());
}

const char* operation_of(Kind kind, Collective call) {
  constexpr const char* kNames[] = {"reduce",         "allreduce", "bcast",
                                    "reduce_scatter", "allgather", "allgather"};
  const bool rooted = info_of(call).has_root;
  if (call == Collective::reduce && kind == Kind::gather) return "gather";
  if (call == Collective::bcast && kind == Kind::scatter) return "scatter";
  const bool as_the_call = (rooted || has_parts(call)) && kind == Kind::exchange;
  return as_the_call ? name_of(call) : kNames[static_cast<int>(kind)];
}

const LevelGroup& group_of(const AgreedLevels& agreed, const CallPlan& plan,
                           const StagePlan& stage) {
  const bool exchanges = stage.kind == Kind::exchange;
  const Needs needs = info_of(plan.choice.algorithm).needs;
  if (needs == Needs::levels_messages) return agreed.all.group;
  if (is_of_all_ranks(needs)) return (exchanges ? agreed.across : agreed.node).group;
  if (needs == Needs::levels_equal_nodes && exchanges) return agreed.counterparts.group;
  return agreed.groups[static_cast<std::size_t>(stage.level)];
}

void plan_call(const AgreedLevels& agreed, const Choice& choice, const CallShape& shape,
               CallPlan& plan) {
  plan.choice = choice;
  plan.spread = Spread();
  plan.choice.chunk = most_chunk(choice, shape, agreed.depth);
  const Needs needs = info_of(choice.algorithm).needs;
  if (needs == Needs::levels_equal_nodes) return plan_multi_leader(agreed, shape, plan);
  if (is_of_all_ranks(needs)) return plan_all_ranks(agreed, shape, plan);
  if (needs == Needs::levels_messages) return plan_flat(agreed, shape, plan);
  plan.chunks = whole_chunks(shape, plan);
  if (has_parts(shape.collective)) {
    const Parts parts{shape.bytes, static_cast<int>(agreed.order->ranks.size()), 1, 0,
                      shape.listed};
    plan.spread.cut(parts, agreed.order, plan.chunks.count(), std::max(kCacheLine, shape.element));
  }
  list_stages(agreed.groups, agreed.depth, shape.collective, shape.root, plan.stages);
  if (needs == Needs::levels_single_copy) make_passive(agreed.groups, plan.stages);
  for (StagePlan& stage : plan.stages) {
    const auto level = static_cast<std::size_t>(stage.level);
    if (stage.passive) {
      stage.algorithm = choice.algorithm;
    } else {
      choose(agreed.choices[level], agreed.groups[level].shared,
             collective_of(stage.kind, shape.collective),
             {most_bytes(plan, shape.collective, stage, agreed), plan.num_chunks()}, stage);
    }
  }
}

}  // namespace sumac

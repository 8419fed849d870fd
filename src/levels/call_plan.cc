// SPDX-License-Identifier: BSD-3-Clause
#include "levels/call_plan.h"

#include <algorithm>
#include <cassert>

namespace sumac {
namespace {

using Kind = StagePlan::Kind;

// Return the function of a row that needs levels, and null for other rows.
constexpr PlanFn* planner(PlanFn* plan) { return plan; }
constexpr PlanFn* planner(NoPlanFn*) { return nullptr; }

constexpr PlanFn* kPlanners[] = {
#define SUMAC_ALGORITHM(collective, name, needs, order, tuned, early, description, unruled) \
  planner(static_cast<PlanOf<Needs::needs>*>(plans::name)),
#include "base/algorithms.def"
#undef SUMAC_ALGORITHM
};

// A large all-reduce on a single level has no other level to overlap with, so it takes these
// chunks: fewer and larger messages keep the network busy and need fewer polls.
constexpr std::size_t kLargeAlone = 256 << 10, kChunkAlone = 4 << 20;

std::uint32_t most_chunk(const Choice& choice, const CallShape& shape, std::size_t depth) {
  const std::size_t chunk = choice.chunk ? choice.chunk : kDefaultChunk;
  const bool alone = depth == 1 && !info_of(shape.collective).has_root;
  const bool grows = alone && !choice.exact_chunk && shape.bytes >= kLargeAlone;
  return static_cast<std::uint32_t>(grows ? std::max(chunk, kChunkAlone) : chunk);
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
  if (collective == Collective::allgather) {
    return in_place(collective) ? direct_of(collective) : Algorithm::native;
  }
  // Parts go down through slots.
  const bool reduces = collective != Collective::bcast;
  const bool spreads = collective != Collective::reduce && !has_parts(collective);
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

const char* operation_of(Kind kind, Collective call) {
  constexpr const char* kNames[] = {"reduce",         "allreduce", "bcast",
                                    "reduce_scatter", "allgather", "allgather"};
  const bool rooted = info_of(call).has_root;
  if (call == Collective::reduce && kind == Kind::gather) return "gather";
  if (call == Collective::bcast && kind == Kind::scatter) return "scatter";
  const bool as_the_call = (rooted || has_parts(call)) && kind == Kind::exchange;
  return as_the_call ? name_of(call) : kNames[static_cast<int>(kind)];
}

const LevelGroup& group_of(const AgreedLevels& agreed, const StagePlan& stage) {
  switch (stage.workers) {
    case Workers::level:
      break;
    case Workers::all:
      return agreed.all.group;
    case Workers::counterparts:
      return agreed.counterparts.group;
    case Workers::node:
      return agreed.node.group;
    case Workers::across:
      return agreed.across.group;
  }
  return agreed.groups[static_cast<std::size_t>(stage.level)];
}

void plan_call(const AgreedLevels& agreed, const Choice& choice, const CallShape& shape,
               CallPlan& plan) {
  assert(choice.algorithm != Algorithm::native);
  plan.choice = choice;
  plan.choice.chunk = most_chunk(choice, shape, agreed.depth);
  plan.strands = 0;
  plan.parts = 1;
  plan.hands = false;
  plan.first = plan.last = {0, 0};
  plan.spread = Spread();
  kPlanners[static_cast<int>(choice.algorithm)](agreed, shape, plan);
}

Chunks chunks_of(const CallShape& shape, const CallPlan& plan) {
  return {shape.bytes, plan.choice.chunk, std::max(kCacheLine, shape.element)};
}

void list_around_exchange(Workers within, Workers between, Algorithm algorithm,
                          StagePlans& stages) {
  stages.clear();
  for (const Kind kind : {Kind::scatter, Kind::exchange, Kind::gather}) {
    StagePlan stage;
    stage.kind = kind;
    stage.workers = kind == Kind::exchange ? between : within;
    stage.first = kind == Kind::scatter;
    stage.down = kind == Kind::gather;
    stage.after = static_cast<int>(stages.size()) - 1;
    stage.level = kind == Kind::exchange ? 1 : 0;
    stage.algorithm = algorithm;
    stages.push_back(stage);
  }
}

void choose(const ChoiceTable& table, bool shared, Collective collective, const ChunkSizes& chunks,
            StagePlan& stage) {
  const ChoiceRange& range = table.range(collective, chunks.largest);
  stage.algorithm = range.choice.algorithm;
  stage.radix = range.choice.radix;
  stage.rule = range.rule;
  if (stage.algorithm == Algorithm::native) return;  // the group has one rank, which does nothing
  stage.width = shared ? 1 : static_cast<int>(std::min<std::size_t>(kWidth, chunks.count));
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The plan called flat is one algorithm among all ranks, on whole chunks. All of them send one
// another messages, whether they share memory or not.
//   Steps, bytes   those of the algorithm among all ranks
//   Wins           where the network between nodes is as good as the memory within them
//   Needs          messages between all ranks
#include "levels/call_plan.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

constexpr std::size_t kChunksAtOnce = 4;

StagePlan::Kind kind_of(Collective collective) {
  if (collective == Collective::reduce) return StagePlan::Kind::reduce;
  return collective == Collective::bcast ? StagePlan::Kind::bcast : StagePlan::Kind::exchange;
}

}  // namespace

void plans::flat(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  StagePlan stage;
  stage.kind = kind_of(shape.collective);
  stage.workers = Workers::all;
  stage.work = &kWholeChunks;
  stage.first = true;
  stage.root = agreed.place_of_root(shape.root);
  plan.chunks = chunks_of(shape, plan);
  const std::size_t count = plan.chunks.count();
  choose(agreed.all.choices, false, shape.collective, {plan.chunks[0].bytes, count}, stage);
  stage.width = static_cast<int>(std::min(kChunksAtOnce, count));
  plan.stages.assign(1, stage);
}

}  // namespace sumac

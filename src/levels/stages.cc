// SPDX-License-Identifier: BSD-3-Clause
// The plan called levels: each level of the hierarchy is a group that works on all chunks by an
// algorithm of its own.
//   Steps   those of every level's algorithm for one chunk, and one of the slowest for each further
//   Bytes   those of the levels' algorithms for the whole message
//   Wins    where groups reach one another faster than others do: only leaders send to other nodes
//   Needs   a hierarchy
// The plan called ordered is the same for the one group that SUMAC_REPRODUCIBLE makes of all ranks.
//
// A rank has these stages.
// In a broadcast the data go from the root upwards through the root's own groups, and downwards in
// all others. A rank receives each chunk on exactly one level (that of its group to which the root
// does not belong by way of this rank) and passes it on in its other levels. Reduce is the inverse:
// a rank folds what its other levels bring, lowest level first, and sends on that one level. An
// all-reduce goes up to the leaders, is exchanged among those of the last level, and comes down. So
// do a reduce-scatter and an all-gather, in chunks that a rank keeps itself: its stages follow one
// another in each of these chunks.
#include "levels/call_plan.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

using Kind = StagePlan::Kind;

// Returns the member of the level's group through which the data of the root come.
int entry(const LevelGroup& level, int place_of_root) {
  const int member = level.member_towards(place_of_root);
  return member >= 0 ? member : level.leader;
}

class Lister {
 public:
  Lister(const AgreedLevels& agreed, StagePlans& stages)
      : agreed_(agreed), levels_(agreed.groups), stages_(stages) {
    stages_.clear();
  }

  void allreduce();
  void reduce(int root);
  void bcast(int root);
  void parts(Kind up);

 private:
  // Adds the way up to the leaders, the exchange, and the way down.
  void add_all(Kind up);
  // A group of one rank has nothing to do.
  void add(Kind kind, std::size_t level, int root) {
    if (levels_[level].size == 1) return;
    StagePlan stage;
    stage.kind = kind;
    stage.down = kind == Kind::bcast;
    stage.level = static_cast<int>(level);
    stage.root = root;
    stages_.push_back(stage);
  }
  bool passes_on(const StagePlan& stage) const {
    return levels_[static_cast<std::size_t>(stage.level)].rank == stage.root;
  }
  int last() const { return static_cast<int>(stages_.size()) - 1; }

  const AgreedLevels& agreed_;
  const std::vector<LevelGroup>& levels_;
  StagePlans& stages_;
};

void Lister::add_all(Kind up) {
  const std::size_t depth = agreed_.depth;
  const bool at_top = levels_.size() == depth;
  const std::size_t below = at_top ? depth - 1 : levels_.size();
  for (std::size_t i = 0; i < below; ++i) add(up, i, levels_[i].leader);
  if (at_top) add(Kind::exchange, levels_.size() - 1, 0);
  for (std::size_t i = below; i-- > 0;) add(Kind::bcast, i, levels_[i].leader);
  stages_[0].first = true;
}

void Lister::allreduce() {
  add_all(Kind::reduce);
  // The stages on the way down wait for this stage: the exchange, or the level on which the result
  // arrives.
  int source = StagePlan::kNone;
  for (int i = 0; i <= last(); ++i) {
    StagePlan& stage = stages_[static_cast<std::size_t>(i)];
    const bool down = stage.kind == Kind::bcast;
    if (!down) stage.after = i - 1;
    if (down && passes_on(stage)) stage.after = source;
    if (stage.kind == Kind::exchange || (down && !passes_on(stage))) source = i;
  }
}

void Lister::parts(Kind up) {
  add_all(up);
  for (int i = 1; i <= last(); ++i) stages_[static_cast<std::size_t>(i)].after = i - 1;
  if (last() > 0) stages_[0].room = last();
}

void Lister::reduce(int root) {
  const int place = agreed_.order->ranks.index_of(root);
  for (const bool sending : {false, true}) {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const int target = entry(levels_[i], place);
      if ((levels_[i].rank != target) == sending) add(Kind::reduce, i, target);
    }
  }
  stages_[0].first = true;
  for (int i = 1; i <= last(); ++i) stages_[static_cast<std::size_t>(i)].after = i - 1;
  // A rank without an output of its own keeps a few chunks until it has sent them.
  if (agreed_.own != root && last() > 0) stages_[0].room = last();
}

void Lister::bcast(int root) {
  const int place = agreed_.order->ranks.index_of(root);
  for (const bool passing_on : {false, true}) {
    for (std::size_t i = levels_.size(); i-- > 0;) {
      const int source = entry(levels_[i], place);
      if ((levels_[i].rank == source) == passing_on) add(Kind::bcast, i, source);
    }
  }
  if (passes_on(stages_[0])) return;  // this rank is the root
  for (std::size_t i = 1; i < stages_.size(); ++i) stages_[i].after = 0;
}

void list_stages(const AgreedLevels& agreed, const CallShape& shape, StagePlans& stages) {
  Lister lister(agreed, stages);
  if (shape.collective == Collective::bcast) return lister.bcast(shape.root);
  if (shape.collective == Collective::reduce) return lister.reduce(shape.root);
  if (shape.collective == Collective::reduce_scatter) {
    return lister.parts(Kind::reduce);
  }
  if (shape.collective == Collective::allgather) return lister.parts(Kind::collect);
  lister.allreduce();  // a barrier is one, too
}

// Returns what a group does with each chunk in a stage of the call.
Collective collective_of(Kind kind, Collective call) {
  if (kind == Kind::reduce) return Collective::reduce;
  if (kind == Kind::bcast) return Collective::bcast;
  if (kind == Kind::collect) return Collective::allgather;
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

}  // namespace

void plans::levels(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  const Collective call = shape.collective;
  plan.chunks = chunks_of(shape, plan);
  if (has_parts(call)) {
    const Parts parts{shape.bytes, agreed.order->size(), 1, 0, shape.listed};
    plan.spread.cut(parts, agreed.order, plan.chunks.count(), std::max(kCacheLine, shape.element));
  }
  list_stages(agreed, shape, plan.stages);
  for (StagePlan& stage : plan.stages) {
    const auto level = static_cast<std::size_t>(stage.level);
    stage.work = has_parts(call) ? &kPartsOfChunks : &kWholeChunks;
    choose(agreed.choices[level], agreed.groups[level].shared, collective_of(stage.kind, call),
           {most_bytes(plan, call, stage, agreed), plan.num_chunks()}, stage);
  }
}

void plans::ordered(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  levels(agreed, shape, plan);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "levels/levels_operation.h"

#include <algorithm>
#include <cstdlib>

#include "algorithms/table.h"

namespace sumac {
namespace {

// Runs an operation's strand when its turn on the lane has come; `start(strand)` then makes the
// coroutine. `group` is the lane in shared memory, whose flags carry the operation's mark, or null.
template <class Start>
Task in_turn(Strand& strand, Lane& lane, std::uint64_t turn, ShmGroup* group, std::uint64_t mark,
             Start start) {
  co_await strand.until(lane.ended, turn);
  if (group) group->mark(mark);
  co_await start(strand);
  publish(lane.ended, turn + 1);
}

}  // namespace

void Scratch::Free::operator()(std::byte* memory) const { std::free(memory); }

std::byte* Scratch::reserve(std::size_t bytes) {
  if (bytes > bytes_) {
    bytes_ = round_up(bytes, kPage);
    memory_.reset();
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, bytes_)));
    if (!memory_) std::abort();
  }
  return memory_.get();
}

Lane& Levels::lane(std::size_t tag) {
  while (lanes.size() <= tag) {
    lanes.emplace_back();
    lanes.back().stream.tag = first_tag + static_cast<int>(lanes.size()) - 1;
  }
  return lanes[tag];
}

LevelsOperation::LevelsOperation(Levels& levels) : levels_(levels) {
  const std::size_t most = most_stages(levels_.groups.size());
  operation_.stages = std::make_unique<Stage[]>(most);
  operation_.workers.resize(most * kMostWidth);
}

bool LevelsOperation::ended() const {
  return std::all_of(strands_.begin(), strands_.end(),
                     [](const auto& strand) { return strand->idle(); });
}

void LevelsOperation::make_plan(const ChosenCall& call) {
  const CallShape shape = call.shape();
  // The parts that `listed` points to may have changed.
  if (plan_.stages.empty() || shape != shape_ || shape.listed || call.choice != choice_) {
    plan_call(levels_, call.choice, shape, plan_);
    shape_ = shape;
    choice_ = call.choice;
  }
}

// Over levels a barrier is the reduction of a word.
ReduceArguments LevelsOperation::word_of_barrier() {
  static_assert(sizeof barrier_in_ == kBarrierWord);
  return {reinterpret_cast<const std::byte*>(&barrier_in_),
          reinterpret_cast<std::byte*>(&barrier_out_), 1, kBarrierWord,
          find_reduce(Op::bor, DType::i32)};
}

void LevelsOperation::take_arguments(const ChosenCall& call) {
  Operation& op = operation_;
  op.reduction = {};
  op.bcast = {};
  switch (info_of(call.collective).arguments) {
    case ArgumentKind::bcast:
      op.bcast = call.bcast;
      return;
    case ArgumentKind::reduce_scatter:
      op.reduce_scatter = call.reduce_scatter;
      return;
    case ArgumentKind::allgather:
      op.allgather = call.allgather;
      return;
    case ArgumentKind::reduction:
      op.reduction = info_of(call.collective).has_data ? call.reduction : word_of_barrier();
      break;
    case ArgumentKind::alltoall:
      return;  // not over levels
  }
  // The result of an all-reduce is broadcast in the end.
  if (!is_to_root(call.collective)) {
    op.bcast = {op.reduction.output, op.reduction.bytes(), 0};
  }
}

void LevelsOperation::begin(const ChosenCall& call, const DirectTry& direct) {
  make_plan(call);
  begin(plan_, call, direct);
}

void LevelsOperation::begin(const CallPlan& plan, const ChosenCall& call, const DirectTry& direct) {
  Operation& op = operation_;
  op.plan = &plan;
  take_arguments(call);
  op.chunks = plan.chunks;
  op.spread = has_parts(call.collective) ? &plan.spread : nullptr;
  op.gathers = info_of(call.collective).arguments == ArgumentKind::allgather;
  op.place = levels_.place;
  take_stages();
  op.direct.begin(direct, op);
  prepare_workers();
  if (plan.strands > 0) return begin_chunks();
  begin_stages();
}

void LevelsOperation::take_stages() {
  const StagePlans& plans = operation_.plan->stages;
  operation_.num_stages = plans.size();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    Stage& stage = operation_.stages[i];
    static_cast<StagePlan&>(stage) = plans[i];
    stage.group = &const_cast<LevelGroup&>(group_of(levels_, stage));
    stage.done.begin(stage.width);
  }
}

// Each lane has a tag of its own, the same on all ranks. Those of the levels come first, then those
// of groups that lie across nodes, and at last those of nodes that send messages within.
std::size_t LevelsOperation::tag_of(const StagePlan& stage, std::size_t strand) const {
  const std::size_t across = levels_.depth * 2 * kWidth;
  if (stage.workers == Workers::node) return across + kMostWidth + strand;
  if (stage.workers != Workers::level) return across + strand;
  return (static_cast<std::size_t>(stage.level) * 2 + (stage.down ? 1 : 0)) * kWidth + strand;
}

std::size_t LevelsOperation::width_of(const StagePlan& stage) const {
  const std::size_t through = operation_.plan->strands;
  return through > 0 ? through : static_cast<std::size_t>(stage.width);
}

void LevelsOperation::prepare_workers() {
  Operation& op = operation_;
  const CallPlan& plan = *op.plan;
  op.num_kept = plan.strands > 0 ? plan.strands : kKept;
  std::size_t kept = op.num_kept * round_up(plan.largest_chunk(), kCacheLine), needed = kept;
  const auto for_each = [&](auto visit) {
    for (std::size_t i = 0; i < op.num_stages; ++i) {
      for (std::size_t w = 0; w < width_of(op.stages[i]); ++w)
        visit(op.stages[i], w, op.worker(i, w));
    }
  };
  for_each([&](const Stage& stage, std::size_t strand, Worker& worker) {
    worker.messages = {};
    if (stage.group->shared) return;
    worker.messages = messages_of(*stage.group, tag_of(stage, strand), plan.largest_piece(stage));
    needed += worker.messages.scratch_bytes;
  });
  std::byte* place = op.kept = scratch_.reserve(needed);
  place += kept;
  for_each([&](const Stage&, std::size_t, Worker& worker) {
    worker.messages.scratch = place;
    place += worker.messages.scratch_bytes;
  });
}

void LevelsOperation::begin_stages() {
  Operation& op = operation_;
  std::size_t used = 0;
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    const Stage& stage = op.stages[i];
    ShmGroup* group = nullptr;
    if (stage.group->shared) group = stage.down ? &stage.group->down : &stage.group->up;
    for (std::size_t w = 0; w < width_of(stage); ++w) {
      run_in_turn(used++, tag_of(stage, w), group, [&op, i, w](Strand& strand) {
        return run_stage(strand, op, i, static_cast<int>(w));
      });
    }
  }
}

void LevelsOperation::begin_chunks() {
  Operation& op = operation_;
  const std::size_t strands = op.plan->strands;
  StagePlan across;
  across.workers = Workers::across;
  for (std::size_t w = 0; w < strands; ++w) {
    run_in_turn(w, tag_of(across, w), nullptr,
                [&op, w, strands](Strand& strand) { return run_through(strand, op, w, strands); });
  }
}

template <class Start>
void LevelsOperation::run_in_turn(std::size_t number, std::size_t tag, ShmGroup* group,
                                  Start start) {
  Lane& lane = levels_.lane(tag);
  Strand& next = strand(number);
  next.start(in_turn(next, lane, lane.begun++, group, levels_.calls.mark(), start));
}

Strand& LevelsOperation::strand(std::size_t number) {
  while (strands_.size() <= number) {
    strands_.push_back(std::make_unique<Strand>());
    strands_.back()->preempt_at_every_wait(levels_.stops_at_every_wait);
  }
  return *strands_[number];
}

MessageGroup LevelsOperation::messages_of(const LevelGroup& of, std::size_t tag,
                                          std::size_t largest) {
  MessageGroup group;
  group.messages = levels_.messages.get();
  group.stream = &levels_.lane(tag).stream;
  group.members = &of.members;
  group.rank = of.rank;
  group.size = of.size;
  group.scratch_bytes = message_scratch(group.size, largest);
  return group;
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "levels/levels_operation.h"

#include <algorithm>
#include <cstdlib>

#include "algorithms/table.h"
#include "levels/passive.h"

namespace sumac {
namespace {

// Returns the tag of a lane. Each lane has its own, the same on all ranks.
std::size_t tag_of(std::size_t level, bool down, int which) {
  return (level * 2 + (down ? 1 : 0)) * kWidth + static_cast<std::size_t>(which);
}

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
  operation_.stages = std::make_unique<Stage[]>(most_stages(levels_.groups.size()));
  operation_.groups.resize(most_stages(levels_.groups.size()) * kWidth);
  operation_.parts.resize(operation_.groups.size());
}

bool LevelsOperation::ended() const {
  return std::all_of(strands_.begin(), strands_.end(),
                     [](const auto& strand) { return strand->idle(); });
}

void LevelsOperation::plan(const ChosenCall& call) {
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
      op.reduction = call.collective == Collective::barrier ? word_of_barrier() : call.reduction;
      break;
    case ArgumentKind::alltoall:
      return;  // not over levels
  }
  // The result of an all-reduce is broadcast in the end.
  if (call.collective != Collective::reduce) {
    op.bcast = {op.reduction.output, op.reduction.bytes(), 0};
  }
}

void LevelsOperation::begin(const ChosenCall& call, const DirectTry& direct) {
  plan(call);
  take_arguments(call);
  Operation& op = operation_;
  // The plan may have no stage that could go direct, so the result of the last call is reset here.
  op.direct.went = false;
  op.chunks = plan_.chunks;
  op.spread = has_parts(call.collective) ? &plan_.spread : nullptr;
  op.gathers = call.collective == Collective::allgather;
  op.place = levels_.place;
  const Needs needs = info_of(call.choice.algorithm).needs;
  if (needs == Needs::levels_equal_nodes) return begin_multi_leader();
  if (is_of_all_ranks(needs)) return begin_all_ranks(&levels_.node, levels_.across);
  if (needs == Needs::levels_messages) return begin_all_ranks(nullptr, levels_.all);
  take_stages(plan_.stages, levels_.groups, op);
  op.direct.begin(direct, op);
  begin_stages();
}

void LevelsOperation::begin_stages() {
  Operation& op = operation_;
  const auto down = [&](const Stage& stage) {
    return stage.kind == StagePlan::Kind::bcast && !shows_buffers(op, stage);
  };
  const auto tag = [&](const Stage& stage, int which) {
    return tag_of(static_cast<std::size_t>(stage.level), down(stage), which);
  };
  const std::size_t largest = plan_.largest_chunk();
  std::fill(op.groups.begin(), op.groups.end(), MessageGroup());
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    const Stage& stage = op.stages[i];
    for (int w = 0; w < stage.width && !stage.group->shared; ++w) {
      op.groups[i * kWidth + static_cast<std::size_t>(w)] =
          messages_of(*stage.group, tag(stage, w), largest);
    }
  }
  share_scratch(op.groups.data(), op.num_stages * kWidth, kKept * round_up(largest, kCacheLine));
  std::size_t used = 0;
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    LevelGroup& level = *op.stages[i].group;
    ShmGroup* group = nullptr;
    if (level.shared) group = down(op.stages[i]) ? &level.down : &level.up;
    for (int w = 0; w < op.stages[i].width; ++w) {
      run_in_turn(used++, tag(op.stages[i], w), group,
                  [&op, i, w](Strand& strand) { return run_stage(strand, op, i, w); });
    }
  }
}

void LevelsOperation::begin_multi_leader() {
  MultiLeader& work = multi_leader_;
  const StagePlan& between = plan_.stages[1];
  work.node = &levels_.groups[0];
  work.across = &levels_.counterparts.group;
  work.args = &operation_.reduction;
  work.stages = plan_.stages.data();
  work.exchange = entry_of(between.algorithm).start_sending;
  work.chunks = plan_.chunks;
  work.begin();
  work.groups.fill(MessageGroup());
  for (int w = 0; w < between.width; ++w) {
    work.groups[static_cast<std::size_t>(w)] =
        messages_of(*work.across, tag_of(levels_.depth, false, w), plan_.chunks[0].bytes);
  }
  share_scratch(work.groups.data(), kWidth, 0);
  run_in_turn(0, tag_of(0, false, 0), &levels_.groups[0].up,
              [&work](Strand& strand) { return scatter(strand, work); });
  for (int w = 0; w < between.width; ++w) {
    run_in_turn(static_cast<std::size_t>(w) + 1, tag_of(levels_.depth, false, w), nullptr,
                [&work, w](Strand& strand) { return exchange(strand, work, w); });
  }
  run_in_turn(kWidth + 1, tag_of(0, true, 0), &levels_.groups[0].down,
              [&work](Strand& strand) { return gather(strand, work); });
}

// The lanes of all_ranks come after those of the levels, and its first lanes are those of
// multi_leader's exchange.
void LevelsOperation::begin_all_ranks(const SendingGroup* node, const SendingGroup& across) {
  AllRanks& work = all_ranks_;
  work.args = &operation_.reduction;
  work.bcast = shape_.collective == Collective::bcast ? &operation_.bcast : nullptr;
  work.to_root = shape_.collective == Collective::reduce;
  work.node = node ? &node->group : nullptr;
  work.across = &across.group;
  work.take_stages(plan_.stages);
  work.chunks = plan_.chunks;
  work.parts = plan_.parts;
  work.hands = plan_.hands;
  work.groups.fill(MessageGroup());
  const std::size_t largest = plan_.largest_chunk();
  const std::size_t first_tag = tag_of(levels_.depth, false, 0);
  for (std::size_t w = 0; w < work.width(); ++w) {
    if (node) {
      work.groups[2 * w] = messages_of(node->group, first_tag + kMostChunksAtOnce + w, largest);
    }
    work.groups[2 * w + 1] = messages_of(across.group, first_tag + w, plan_.first.bytes);
  }
  const std::size_t kept = plan_.hands || work.bcast ? largest : plan_.first.bytes;
  const bool has_output = !work.bcast && work.args->output;
  work.kept_bytes = has_output || !node ? 0 : round_up(kept, kCacheLine);
  share_scratch(work.groups.data(), work.groups.size(), work.width() * work.kept_bytes);
  work.kept = operation_.kept;
  for (std::size_t w = 0; w < work.width(); ++w) {
    run_in_turn(w, first_tag + w, nullptr,
                [&work, w](Strand& strand) { return all_ranks(strand, work, w); });
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
  while (strands_.size() <= number) strands_.push_back(std::make_unique<Strand>());
  return *strands_[number];
}

MessageGroup LevelsOperation::messages_of(const LevelGroup& of, std::size_t tag,
                                          std::size_t largest) {
  MessageGroup group;
  group.messages = levels_.messages.get();
  group.stream = &levels_.lane(tag).stream;
  group.members = of.members.data();
  group.rank = of.rank;
  group.size = of.size;
  group.scratch_bytes = message_scratch(group.size, largest);
  return group;
}

void LevelsOperation::share_scratch(MessageGroup* groups, std::size_t count, std::size_t kept) {
  std::size_t needed = kept;
  for (std::size_t i = 0; i < count; ++i) needed += groups[i].scratch_bytes;
  std::byte* place = scratch_.reserve(needed);
  operation_.kept = place;
  place += kept;
  for (std::size_t i = 0; i < count; ++i) {
    groups[i].scratch = place;
    place += groups[i].scratch_bytes;
  }
}

}  // namespace sumac

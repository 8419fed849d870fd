// SPDX-License-Identifier: BSD-3-Clause
#include "planner/levels_operation.h"

#include <algorithm>
#include <cstdlib>

#include "algorithms/levels/passive.h"
#include "algorithms/table.h"

namespace sumac {
namespace {

// Chunks when the choice does not say: small enough for a pipeline, large enough for a network.
constexpr std::size_t kDefaultChunk = 64 << 10;

// Tags: each lane has its own, the same on all ranks.
std::size_t tag_of(std::size_t level, bool down, int which) {
  return (level * 2 + (down ? 1 : 0)) * kWidth + static_cast<std::size_t>(which);
}

// Large all-reduces on a single level have no other level to overlap with: fewer, larger messages
// keep a network busy with fewer looks at them.
constexpr std::size_t kLargeAlone = 256 << 10, kChunkAlone = 4 << 20;

Chunks cut(const LevelsCall& call, std::size_t depth) {
  std::size_t chunk = call.choice.chunk ? call.choice.chunk : kDefaultChunk;
  const bool alone = depth == 1 && call.collective == Collective::allreduce;
  const bool may_grow = alone && !call.choice.exact_chunk;
  if (may_grow && call.reduction.bytes() >= kLargeAlone) chunk = std::max(chunk, kChunkAlone);
  if (call.collective == Collective::bcast) return {call.bcast.bytes, chunk, kCacheLine};
  const ReduceArguments& args = call.reduction;
  return {args.bytes(), chunk, std::max(kCacheLine, args.element)};
}

bool is_mpis_own(Algorithm algorithm) { return info_of(algorithm).order == Order::of_mpi; }
constexpr Algorithm kInsteadOfMpi = Algorithm::allreduce_rabenseifner;

StartOnLevel start_of(Algorithm algorithm) { return entry_of(algorithm).start_on_level; }

// `start(strand)` makes the coroutine once it is the operation's turn on the lane.
template <class Start>
Task in_turn(Strand& strand, Lane& lane, std::uint64_t turn, Start start) {
  co_await strand.until(lane.ended, turn);
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
}

bool LevelsOperation::ended() const {
  return std::all_of(strands_.begin(), strands_.end(),
                     [](const auto& strand) { return strand->idle(); });
}

void LevelsOperation::begin(const LevelsCall& call) {
  operation_.reduction = call.reduction;
  if (call.choice.algorithm == Algorithm::allreduce_multi_leader) {
    return begin_multi_leader(call.choice);
  }
  operation_.bcast = call.bcast;
  operation_.chunks = cut(call, levels_.depth);
  if (call.collective == Collective::bcast) {
    plan_bcast(levels_.groups, call.bcast.root, operation_);
  } else if (call.collective == Collective::reduce) {
    plan_reduce(levels_.groups, call.reduction.root, operation_);
  } else {
    plan_allreduce(levels_.groups, levels_.depth, operation_);
  }
  begin_stages(call);
}

std::size_t LevelsOperation::level_of(const Stage& stage) const {
  return static_cast<std::size_t>(stage.level - levels_.groups.data());
}

void LevelsOperation::choose(Stage& stage, std::size_t bytes) {
  Collective collective = Collective::allreduce;
  if (stage.kind == Stage::Kind::reduce) collective = Collective::reduce;
  if (stage.kind == Stage::Kind::bcast) collective = Collective::bcast;
  const Choice& choice = levels_.plans[level_of(stage)].choose(collective, bytes);
  // The MPI's own collectives must be called in one order.
  const bool native = is_mpis_own(choice.algorithm);
  stage.start = start_of(native && !levels_.in_order ? kInsteadOfMpi : choice.algorithm);
  stage.radix = choice.radix;
  const bool alone = stage.level->shared || (native && levels_.in_order);
  stage.done.begin(alone ? 1 : kWidth);
}

void LevelsOperation::begin_stages(const LevelsCall& call) {
  Operation& op = operation_;
  if (info_of(call.choice.algorithm).needs == Needs::levels_single_copy)
    make_passive(levels_.groups, op);
  const std::size_t largest = op.chunks[0].bytes;
  const auto tag = [&](const Stage& stage, int which) {
    const bool down = stage.kind == Stage::Kind::bcast && !shows_buffers(op, stage);
    return tag_of(level_of(stage), down, which);
  };
  std::fill(op.groups.begin(), op.groups.end(), MessageGroup());
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    Stage& stage = op.stages[i];
    choose(stage, largest);
    for (int w = 0; w < stage.done.width() && !stage.level->shared; ++w) {
      op.groups[i * kWidth + static_cast<std::size_t>(w)] =
          group_of(stage.level->members, stage.level->rank, tag(stage, w), stage.radix);
    }
  }
  share_scratch(op.groups.data(), op.num_stages * kWidth, largest);
  std::size_t used = 0;
  const auto most = static_cast<int>(std::min<std::size_t>(kWidth, op.chunks.count()));
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    for (int w = 0; w < std::min(op.stages[i].done.width(), most); ++w) {
      run_in_turn(used++, tag(op.stages[i], w),
                  [&op, i, w](Strand& strand) { return run_stage(strand, op, i, w); });
    }
  }
}

void LevelsOperation::begin_multi_leader(const Choice& choice) {
  MultiLeader& work = multi_leader_;
  work.node = &levels_.groups[0];
  work.args = &operation_.reduction;
  work.chunk = choice.chunk ? choice.chunk : kDefaultChunk;
  work.begin();
  const std::size_t largest = work.exchanges()[0].bytes;
  const Counterparts& peers = levels_.counterparts;
  const Choice& between = peers.plans.choose(Collective::allreduce, largest);
  // The MPI's own collective is for the leaders alone.
  work.exchange = start_of(is_mpis_own(between.algorithm) ? kInsteadOfMpi : between.algorithm);
  for (int w = 0; w < kWidth; ++w) {
    work.groups[static_cast<std::size_t>(w)] =
        group_of(peers.ranks, peers.own, tag_of(levels_.depth, false, w), between.radix);
  }
  share_scratch(work.groups.data(), kWidth, largest);
  run_in_turn(0, tag_of(0, false, 0), [&work](Strand& strand) { return scatter(strand, work); });
  for (int w = 0; w < kWidth; ++w) {
    run_in_turn(static_cast<std::size_t>(w) + 1, tag_of(levels_.depth, false, w),
                [&work, w](Strand& strand) { return exchange(strand, work, w); });
  }
  run_in_turn(kWidth + 1, tag_of(0, true, 0),
              [&work](Strand& strand) { return gather(strand, work); });
}

template <class Start>
void LevelsOperation::run_in_turn(std::size_t number, std::size_t tag, Start start) {
  Lane& lane = levels_.lane(tag);
  Strand& next = strand(number);
  next.start(in_turn(next, lane, lane.begun++, start));
}

Strand& LevelsOperation::strand(std::size_t number) {
  while (strands_.size() <= number) strands_.push_back(std::make_unique<Strand>());
  return *strands_[number];
}

MessageGroup LevelsOperation::group_of(const std::vector<int>& members, int rank, std::size_t tag,
                                       int radix) {
  MessageGroup group;
  group.messages = levels_.messages.get();
  group.stream = &levels_.lane(tag).stream;
  group.members = members.data();
  group.rank = rank;
  group.size = static_cast<int>(members.size());
  group.radix = radix;
  return group;
}

void LevelsOperation::share_scratch(MessageGroup* groups, std::size_t count, std::size_t largest) {
  const std::size_t share = kScratchBuffers * round_up(largest, kCacheLine);
  const std::size_t kept = kKept * round_up(largest, kCacheLine);
  std::size_t needed = kept;
  for (std::size_t i = 0; i < count; ++i) needed += groups[i].messages ? share : 0;
  std::byte* place = scratch_.reserve(needed);
  operation_.kept = place;
  place += kept;
  for (std::size_t i = 0; i < count; ++i) {
    if (!groups[i].messages) continue;
    groups[i].scratch = place;
    groups[i].scratch_bytes = share;
    place += share;
  }
}

}  // namespace sumac

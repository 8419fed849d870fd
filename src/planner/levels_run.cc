// SPDX-License-Identifier: BSD-3-Clause
#include "planner/levels_run.h"

#include <algorithm>
#include <cstdlib>

#include "planner/start_level.h"

namespace sumac {
namespace {

// Chunks when the choice does not say: small enough for a pipeline, large enough for a network.
constexpr std::size_t kDefaultChunk = 64 << 10;

// Scratch for what is read from members' memory.
constexpr std::size_t kMostFetched = 1 << 20;

// Tags: each strand that may send has its own, the same on all ranks.
std::size_t tag_of(std::size_t level, bool down, int which) {
  return (level * 2 + (down ? 1 : 0)) * kWidth + static_cast<std::size_t>(which);
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

LevelsRun::LevelsRun(std::vector<LevelGroup> levels, std::size_t depth, const PlanTable& whole,
                     std::vector<PlanTable> plans, Counterparts counterparts, int rank,
                     std::unique_ptr<Messages> messages, std::unique_ptr<PeerMemory> lowest)
    : levels_(std::move(levels)),
      depth_(depth),
      whole_(whole),
      plans_(std::move(plans)),
      counterparts_(std::move(counterparts)),
      messages_(std::move(messages)),
      lowest_(std::move(lowest)) {
  levels_[0].peers = {lowest_.get(), nullptr, 0, &failed_};
  operation_.stages = std::make_unique<Stage[]>(most_stages(levels_.size()));
  operation_.groups.resize(most_stages(levels_.size()) * kWidth);
  const std::vector<int>& peers = counterparts_.ranks;
  counterpart_ = static_cast<int>(std::find(peers.begin(), peers.end(), rank) - peers.begin());
}

void LevelsRun::allreduce(const ReduceArguments& args, const Choice& choice,
                          const WaitPolicy& policy) {
  if (choice.algorithm == Algorithm::allreduce_multi_leader) {
    return run_multi_leader(args, choice, policy);
  }
  operation_.reduction = args;
  cut(args.bytes(), args.element, choice);
  plan_allreduce(levels_, depth_, operation_);
  run_stages(choice, policy);
}

void LevelsRun::reduce(const ReduceArguments& args, const Choice& choice,
                       const WaitPolicy& policy) {
  operation_.reduction = args;
  cut(args.bytes(), args.element, choice);
  plan_reduce(levels_, args.root, operation_);
  run_stages(choice, policy);
}

void LevelsRun::bcast(const BcastArguments& args, const Choice& choice, const WaitPolicy& policy) {
  operation_.bcast = args;
  cut(args.bytes, 1, choice);
  plan_bcast(levels_, args.root, operation_);
  run_stages(choice, policy);
}

void LevelsRun::cut(std::size_t bytes, std::size_t element, const Choice& choice) {
  const std::size_t chunk = choice.chunk ? choice.chunk : kDefaultChunk;
  operation_.chunks = Chunks(bytes, chunk, std::max(kCacheLine, element));
}

void LevelsRun::choose(Stage& stage, std::size_t bytes) {
  const PlanTable& plan = plans_[static_cast<std::size_t>(stage.level - levels_.data())];
  Collective collective = Collective::allreduce;
  if (stage.kind == Stage::Kind::reduce) collective = Collective::reduce;
  if (stage.kind == Stage::Kind::bcast) collective = Collective::bcast;
  const Choice& choice = plan.choose(collective, bytes);
  if (stage.kind == Stage::Kind::bcast) {
    stage.bcast = bcast_on_level(choice.algorithm);
  } else {
    stage.reduction = reduction_on_level(choice.algorithm);
  }
  stage.radix = choice.radix;
  // The MPI's own collectives must be called in one order.
  const bool alone = stage.level->shared || choice.algorithm == Algorithm::allreduce_native;
  stage.done.begin(alone ? 1 : kWidth);
}

void LevelsRun::run_stages(const Choice& choice, const WaitPolicy& policy) {
  Operation& op = operation_;
  if (is_passive(choice.algorithm)) make_passive(levels_, op);
  const std::size_t largest = op.chunks[0].bytes;
  std::fill(op.groups.begin(), op.groups.end(), MessageGroup());
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    Stage& stage = op.stages[i];
    choose(stage, largest);
    const auto level = static_cast<std::size_t>(stage.level - levels_.data());
    for (int w = 0; w < stage.done.width() && !stage.level->shared; ++w) {
      MessageGroup& group = op.groups[i * kWidth + static_cast<std::size_t>(w)];
      group = group_of(stage.level->members, stage.level->rank,
                       tag_of(level, stage.kind == Stage::Kind::bcast, w));
      group.radix = stage.radix;
    }
  }
  share_scratch(op.groups.data(), op.num_stages * kWidth, largest);
  std::size_t used = 0;
  for (std::size_t i = 0; i < op.num_stages; ++i) {
    const auto most = static_cast<int>(std::min<std::size_t>(kWidth, op.chunks.count()));
    for (int w = 0; w < std::min(op.stages[i].done.width(), most); ++w) {
      Strand& next = strand(used++);
      next.start(run_stage(next, op, i, w));
    }
  }
  run_together(strands_, messages_.get(), policy);
}

void LevelsRun::run_multi_leader(const ReduceArguments& args, const Choice& choice,
                                 const WaitPolicy& policy) {
  MultiLeader& work = multi_leader_;
  operation_.reduction = args;
  work.node = &levels_[0];
  work.args = &operation_.reduction;
  work.chunk = choice.chunk ? choice.chunk : kDefaultChunk;
  work.begin();
  const std::size_t largest = work.exchanges()[0].bytes;
  const Choice& between = counterparts_.plans.choose(Collective::allreduce, largest);
  // The MPI's own collective is for the leaders alone.
  const bool native = between.algorithm == Algorithm::allreduce_native;
  work.exchange =
      reduction_on_level(native ? Algorithm::allreduce_rabenseifner : between.algorithm);
  for (int w = 0; w < kWidth; ++w) {
    MessageGroup& group = work.groups[static_cast<std::size_t>(w)];
    group = group_of(counterparts_.ranks, counterpart_, tag_of(depth_, false, w));
    group.radix = between.radix;
  }
  share_scratch(work.groups.data(), kWidth, largest);
  Strand& in = strand(0);
  in.start(scatter(in, work));
  for (int w = 0; w < kWidth; ++w) {
    Strand& between_nodes = strand(static_cast<std::size_t>(w) + 1);
    between_nodes.start(exchange(between_nodes, work, w));
  }
  Strand& out = strand(kWidth + 1);
  out.start(gather(out, work));
  run_together(strands_, messages_.get(), policy);
}

int LevelsRun::owner_of(const Counter& counter) const {
  for (const LevelGroup& level : levels_) {
    for (const ShmGroup* lane : {&level.up, &level.down}) {
      const int owner = lane->owner_of(&counter);
      if (owner >= 0) return level.members[static_cast<std::size_t>(owner)];
    }
  }
  return -1;
}

Strand& LevelsRun::strand(std::size_t number) {
  while (strands_.size() <= number) strands_.push_back(std::make_unique<Strand>());
  return *strands_[number];
}

Stream& LevelsRun::stream(std::size_t tag) {
  while (streams_.size() <= tag) {
    streams_.emplace_back();
    streams_.back().tag = static_cast<int>(streams_.size()) - 1;
  }
  return streams_[tag];
}

MessageGroup LevelsRun::group_of(const std::vector<int>& members, int rank, std::size_t tag) {
  MessageGroup group;
  group.messages = messages_.get();
  group.stream = &stream(tag);
  group.members = members.data();
  group.rank = rank;
  group.size = static_cast<int>(members.size());
  return group;
}

void LevelsRun::share_scratch(MessageGroup* groups, std::size_t count, std::size_t largest) {
  const std::size_t share = kScratchBuffers * round_up(largest, kCacheLine);
  const std::size_t kept = kKept * round_up(largest, kCacheLine);
  SingleCopy& peers = levels_[0].peers;
  const auto members = static_cast<std::size_t>(levels_[0].size);
  peers.scratch_bytes =
      peers.memory ? std::min(kMostFetched, members * round_up(largest, kPage)) : 0;
  std::size_t needed = kept + peers.scratch_bytes;
  for (std::size_t i = 0; i < count; ++i) needed += groups[i].messages ? share : 0;
  std::byte* place = scratch_.reserve(needed);
  operation_.kept = place;
  place += kept;
  peers.scratch = place;
  place += peers.scratch_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (!groups[i].messages) continue;
    groups[i].scratch = place;
    groups[i].scratch_bytes = share;
    place += share;
  }
}

}  // namespace sumac

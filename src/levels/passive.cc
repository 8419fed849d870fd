// SPDX-License-Identifier: BSD-3-Clause
// The plan called passive is levels, but where the lowest level shares memory and the data come and
// go through its leader, its members are passive. A member tells once where its buffers are and
// waits until the leader says that all is done. The leader reads the members' inputs chunk by chunk
// and folds them, and writes results into their outputs.
//   Steps     2 for the whole operation, whatever the number of chunks
//   Bytes     the leader moves n for each member, each way, and does all the arithmetic of its
//             group
//   Wins      where ranks share processors: members that are not running delay nobody, and members
//             that wait take no time from ranks that work
//   Needs     access to peers' memory, on the lowest level; members that have all their data
// If a copy is refused to the leader, the member makes it (algorithms/relay.h), chunk by chunk.
#include <vector>

#include "algorithms/single_copy.h"
#include "levels/call_plan.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

// Returns true if the members show their buffers in this stage. A later stage of the operation then
// knows them.
bool shows_buffers(const Operation& operation, const Stage& stage) {
  return &stage == &operation.stages[0] || operation.stages[0].work != &kPassive;
}

// Returns true if results go back to the members: they do so in a later stage of the same group.
bool is_followed(const Operation& operation, const Stage& stage) {
  const Stage& last = operation.stages[operation.num_stages - 1];
  return &last != &stage && last.work == &kPassive;
}

// Does nothing more, since the result stays where it is formed.
void keep_result(std::size_t, const std::byte*, std::size_t) {}

// Stages of an operation ask their members one after another. This begins one's turn, and returns
// its number.
Wait turn(Operation& operation, std::uint64_t& number) {
  number = operation.passive_turns++;
  return {operation.passive_turn, number};
}
void end_turn(Operation& operation, std::uint64_t number) {
  publish(operation.passive_turn, number + 1);
}

Task read_chunk(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  const ShmGroup& group = stage.group->up;
  const Part part = operation.chunks[chunk];
  const ShownInput input{group, operation.passive_position};
  std::byte* const result = operation.result(chunk);
  SingleCopy peers = stage.group->peers;
  const Part rest = fold_from(operation.reduction, peers, group.size(), group.rank(), part, input,
                              result, keep_result);
  if (rest.bytes == 0) [[likely]]
    co_return;
  // Other strands use the group's scratch memory while this one waits.
  std::vector<std::byte> scratch(peers.scratch_bytes);
  peers.scratch = scratch.data();
  std::uint64_t number = 0;
  co_await strand.until(turn(operation, number));
  co_await fold_by_relay(strand, *operation.passive_relay, operation.reduction, peers, group.size(),
                         group.rank(), rest, input, result + (rest.offset - part.offset),
                         keep_result);
  end_turn(operation, number);
}

Task write_chunk(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  const Part part = operation.chunks[chunk];
  Refusals refusals;
  SingleCopy peers = stage.group->peers;
  peers.refusals = &refusals;
  store_to_peers(stage.group->up, peers, operation.passive_position, part.offset,
                 operation.bcast.buffer.at() + part.offset, part.bytes);
  if (!refusals.any()) [[likely]]
    co_return;
  std::uint64_t number = 0;
  co_await strand.until(turn(operation, number));
  co_await relay_copies(strand, *operation.passive_relay, refusals, -1);
  end_turn(operation, number);
}

// Does the work of a member, for all chunks.
Task be_passive(Strand& strand, Operation& operation, Stage& stage) {
  ShmGroup& group = stage.group->up;
  const std::uint64_t position = group.take(1, relay_use(group));
  group.let_overlap();
  co_await strand.until(group.slot_free(position));
  const bool reduces = stage.kind == Stage::Kind::reduce;
  show_buffers(group, position,
               {reduces ? operation.reduction.input : nullptr, operation.bcast.buffer.at()});
  Relay relay(group, position);
  co_await follow(strand, relay, stage.root);
  group.finish(position);
}

// Does the work of the leader before its chunks.
Task meet_members(Strand& strand, Operation& operation, Stage& stage) {
  if (!shows_buffers(operation, stage)) co_return;
  ShmGroup& group = stage.group->up;
  operation.passive_position = group.take(1, relay_use(group));
  group.let_overlap();
  co_await strand.until(group.slot_free(operation.passive_position));
  co_await strand.until(group.others_in(operation.passive_position));
  operation.passive_relay.emplace(group, operation.passive_position);
  operation.passive_turn.store(0, std::memory_order_relaxed);
  operation.passive_turns = 0;
}

Task serve_members(Strand& strand, Operation& operation, Stage& stage, Worker&, std::size_t chunk) {
  const bool reduces = stage.kind == Stage::Kind::reduce;
  return reduces ? read_chunk(strand, operation, stage, chunk)
                 : write_chunk(strand, operation, stage, chunk);
}

void release_members(Operation& operation, Stage& stage) {
  if (is_followed(operation, stage)) return;
  operation.passive_relay->ask({});
  stage.group->up.finish(operation.passive_position);
}

Task run(Strand& strand, Operation& operation, std::size_t number, int which) {
  Stage& stage = operation.stages[number];
  if (stage.group->rank != stage.root) {
    co_await be_passive(strand, operation, stage);
    co_return;
  }
  co_await meet_members(strand, operation, stage);
  co_await run_in_chunks(strand, operation, number, which);
  release_members(operation, stage);
}

Traffic price_passive(const CallPlan&, const StagePlan&, const LevelGroup& group,
                      const CallShape& shape) {
  GroupCall call;
  call.ranks = group.size;
  call.bytes = shape.bytes;
  return traffic_in_memory(1, others_vectors(call));
}

}  // namespace

const StageWork kPassive{serve_members, price_passive, run};

void plans::passive(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  levels(agreed, shape, plan);
  const LevelGroup& lowest = agreed.groups[0];
  if (!lowest.shared) return;
  const StagePlan& first = plan.stages[0];
  for (StagePlan& stage : plan.stages) {
    if (stage.level != 0 || stage.kind == StagePlan::Kind::exchange) continue;
    if (stage.root != lowest.leader) continue;
    // Buffers are shown on the lane up.
    stage.down = stage.kind == StagePlan::Kind::bcast && first.work == &kPassive;
    stage.work = &kPassive;
    stage.algorithm = plan.choice.algorithm;
    stage.radix = 2;
    stage.rule = kNoRule;
  }
  // A member only waits, once.
  if (first.work == &kPassive && lowest.rank != lowest.leader) plan.stages.resize(1);
}

}  // namespace sumac

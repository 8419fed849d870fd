// SPDX-License-Identifier: BSD-3-Clause
#include "levels/passive.h"

#include <vector>

#include "algorithms/single_copy.h"

namespace sumac {
namespace {

// Returns true if results go back to the members: they do so in a later stage of the same group.
bool is_followed(const Operation& operation, const Stage& stage) {
  const Stage& last = operation.stages[operation.num_stages - 1];
  return &last != &stage && last.passive;
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

}  // namespace

bool shows_buffers(const Operation& operation, const Stage& stage) {
  return stage.passive && (&stage == &operation.stages[0] || !operation.stages[0].passive);
}

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

Task serve_members(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  const bool reduces = stage.kind == Stage::Kind::reduce;
  return reduces ? read_chunk(strand, operation, stage, chunk)
                 : write_chunk(strand, operation, stage, chunk);
}

void release_members(Operation& operation, Stage& stage) {
  if (is_followed(operation, stage)) return;
  operation.passive_relay->ask({});
  stage.group->up.finish(operation.passive_position);
}

}  // namespace sumac

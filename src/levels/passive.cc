// SPDX-License-Identifier: BSD-3-Clause
#include "levels/passive.h"

#include "algorithms/single_copy.h"

namespace sumac {
namespace {

// True when results go back to the members: they do so in a later stage of the same group.
bool is_followed(const Operation& operation, const Stage& stage) {
  const Stage& last = operation.stages[operation.num_stages - 1];
  return &last != &stage && last.passive;
}

void read_chunk(Operation& operation, const Stage& stage, std::size_t chunk) {
  const Part part = operation.chunks[chunk];
  fold_from_peers(stage.group->up, operation.reduction, stage.group->peers,
                  operation.passive_position, part, operation.result(chunk),
                  [](std::size_t, const std::byte*, std::size_t) {});
}

}  // namespace

bool shows_buffers(const Operation& operation, const Stage& stage) {
  return stage.passive && (&stage == &operation.stages[0] || !operation.stages[0].passive);
}

Task be_passive(Strand& strand, Operation& operation, Stage& stage) {
  ShmGroup& group = stage.group->up;
  const std::uint64_t position = group.take(1, {.results = true});
  group.let_overlap();
  co_await strand.until(group.slot_free(position));
  const bool reduces = stage.kind == Stage::Kind::reduce;
  show_buffers(group, position,
               {reduces ? operation.reduction.input : nullptr, operation.bcast.buffer.at()});
  co_await strand.until(group.out(stage.root, position));
  group.finish(position);
}

Task meet_members(Strand& strand, Operation& operation, Stage& stage) {
  if (!shows_buffers(operation, stage)) co_return;
  ShmGroup& group = stage.group->up;
  operation.passive_position = group.take(1, {.results = true});
  group.let_overlap();
  co_await strand.until(group.slot_free(operation.passive_position));
  co_await strand.until(group.others_in(operation.passive_position));
}

void serve_members(Operation& operation, const Stage& stage, std::size_t chunk) {
  if (stage.kind == Stage::Kind::reduce) return read_chunk(operation, stage, chunk);
  const Part part = operation.chunks[chunk];
  store_to_peers(stage.group->up, stage.group->peers, operation.passive_position, part.offset,
                 operation.bcast.buffer.at() + part.offset, part.bytes);
}

void release_members(Operation& operation, Stage& stage) {
  if (is_followed(operation, stage)) return;
  stage.group->up.publish_out(operation.passive_position);
  stage.group->up.finish(operation.passive_position);
}

}  // namespace sumac

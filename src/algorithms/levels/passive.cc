// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/levels/passive.h"

#include "algorithms/single_copy.h"
#include "observe/trace.h"

namespace sumac {
namespace {

// What comes back to the members, if anything, does so in a later stage of the same group.
bool is_followed(const Operation& operation, const Stage& stage) {
  const Stage& last = operation.stages[operation.num_stages - 1];
  return &last != &stage && last.passive;
}

Task be_passive(Strand& strand, Operation& operation, Stage& stage) {
  ShmGroup& group = stage.level->up;
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  const bool reduces = stage.kind == Stage::Kind::reduce;
  show_buffers(group, position, reduces ? operation.reduction.input : nullptr,
               operation.bcast.buffer);
  co_await strand.until(group.out(stage.root, position));
  group.finish(position);
}

void read_chunk(Operation& operation, const Stage& stage, std::size_t chunk) {
  const Part part = operation.chunks[chunk];
  ReduceArguments args = operation.reduction;
  args.output = operation.result(chunk) - part.offset;
  fold_from_peers(stage.level->up, args, stage.level->peers, operation.passive_position, part, true,
                  [](std::size_t, const std::byte*, std::size_t) {});
}

void write_chunk(const Operation& operation, const Stage& stage, std::size_t chunk) {
  const ShmGroup& group = stage.level->up;
  const SingleCopy& peers = stage.level->peers;
  const Part part = operation.chunks[chunk];
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    const std::uintptr_t to = buffers_of(group, r, operation.passive_position).output;
    if (!peers.memory->write(r, to + part.offset, operation.bcast.buffer + part.offset,
                             part.bytes)) {
      *peers.failed = true;
    }
  }
}

Task lead(Strand& strand, Operation& operation, Stage& stage) {
  ShmGroup& group = stage.level->up;
  // A stage that follows another of the operation finds the members' buffers known.
  const bool is_first = &stage == &operation.stages[0] || !operation.stages[0].passive;
  if (is_first) {
    operation.passive_position = group.take(1);
    co_await strand.until(group.slot_free(operation.passive_position));
    co_await strand.until(group.others_in(operation.passive_position));
  }
  for (std::size_t chunk = 0; chunk < operation.chunks.count(); ++chunk) {
    if (stage.after) co_await strand.until(stage.after->done(chunk));
    if (stage.room && chunk >= kKept) co_await strand.until(stage.room->done(chunk - kKept));
    const std::uint64_t begun = trace::on() ? trace::now_ns() : 0;
    strand.forget_waking();
    if (stage.kind == Stage::Kind::reduce) {
      read_chunk(operation, stage, chunk);
    } else {
      write_chunk(operation, stage, chunk);
    }
    if (begun) record_chunk(stage, strand, chunk, begun);
    stage.done.note(chunk);
  }
  if (is_followed(operation, stage)) co_return;
  group.publish_out(operation.passive_position);
  group.finish(operation.passive_position);
}

}  // namespace

Task run_passive(Strand& strand, Operation& operation, Stage& stage) {
  const bool leads = stage.level->rank == stage.root;
  return leads ? lead(strand, operation, stage) : be_passive(strand, operation, stage);
}

}  // namespace sumac

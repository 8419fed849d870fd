// SPDX-License-Identifier: BSD-3-Clause
#include "levels/direct_level.h"

#include "levels/direct_parts.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

bool is_reduced(const Stage& stage) { return stage.kind == StagePlan::Kind::reduce; }

// Returns the lane of the stage's group.
ShmGroup& lane_of(const Stage& stage) {
  return stage.kind == StagePlan::Kind::bcast ? stage.group->down : stage.group->up;
}

std::size_t bytes_of(const Operation& operation, const Stage& stage) {
  if (operation.spread) return operation.gathers ? 0 : operation.reduce_scatter.bytes();
  return is_reduced(stage) ? operation.reduction.bytes() : operation.bcast.bytes;
}

// Returns what this rank shows to the others. A rank that has the results of other levels to pass
// on folds them from memory of its own.
Buffers shown_by(const Operation& operation, const Stage& stage) {
  if (operation.spread) return shown_parts(operation, stage);
  const bool mapped = operation.direct.mapped;
  const std::size_t bytes = bytes_of(operation, stage);
  if (!is_reduced(stage)) {
    const std::byte* const buffer = operation.bcast.buffer.at();
    return shown({{buffer, bytes}, {buffer, bytes}}, mapped);
  }
  const ReduceArguments& args = operation.reduction;
  return shown({{args.input, bytes}, {args.output, bytes}}, mapped && stage.first);
}

Part common_pages(const DirectLevel& direct, const Stage& stage, std::size_t bytes) {
  WholePages pages(bytes, direct.page);
  for (std::size_t r = 0; r < direct.buffers.size(); ++r) {
    const Buffers& buffers = direct.buffers[r];
    if (is_reduced(stage)) pages.narrow(buffers.input);
    if (static_cast<int>(r) == stage.root && buffers.output) pages.narrow(buffers.output);
  }
  return pages.inside();
}

bool has_output(const Operation& operation, const Stage& stage) {
  return operation.direct.buffers[static_cast<std::size_t>(stage.root)].output != 0;
}

// Returns true if the operation goes direct provided that all ranks see all buffers. The answer is
// the same on all ranks of the group.
bool all_can(const Operation& operation, const Stage& stage, std::size_t bytes) {
  const DirectLevel& direct = operation.direct;
  for (const Buffers& buffers : direct.buffers) {
    if (!buffers.mapped) return false;
  }
  if (operation.spread) return parts_can(operation, stage);
  const std::size_t room = lane_of(stage).slot_bytes(), edges = bytes - direct.inside.bytes;
  if (edges > bytes / 2 || edges > room) return false;
  const Parts shares{operation.chunks[0].bytes, stage.group->size};
  return has_output(operation, stage) || shares.largest() <= room;
}

// Returns true if this rank sees in place everything that it reaches into. A copy by the kernel
// might be refused when the chunks before it have already been passed on.
bool sees_all(const Operation& operation, const Stage& stage) {
  const DirectLevel& direct = operation.direct;
  const auto sees = [&](int peer, std::uintptr_t buffer, Part inside) {
    return peer == stage.group->rank || inside.bytes == 0 ||
           seen(direct.peers, peer, buffer + inside.offset, inside.bytes);
  };
  const bool reads_inputs = stage.kind != StagePlan::Kind::bcast;
  for (int r = 0; r < stage.group->size && reads_inputs; ++r) {
    const Part inside = operation.spread ? inside_of_parts(operation, stage, r) : direct.inside;
    if (!sees(r, direct.buffers[static_cast<std::size_t>(r)].input, inside)) return false;
  }
  if (operation.spread) return true;
  const std::uintptr_t output = direct.buffers[static_cast<std::size_t>(stage.root)].output;
  return !output || sees(stage.root, output, direct.inside);
}

Task meet(Strand& strand, Operation& operation, Stage& stage) {
  DirectLevel& direct = operation.direct;
  ShmGroup& group = lane_of(stage);
  const std::uint64_t position = group.take(1, {.results = true});
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, shown_by(operation, stage));
  co_await strand.until(group.others_in(position));
  direct.buffers.clear();
  const std::size_t bytes = bytes_of(operation, stage);
  direct.views.emplace(*direct.peers.memory);
  for (int r = 0; r < group.size(); ++r) {
    direct.buffers.push_back(buffers_of(group, r, position));
    add_views(*direct.views, r, direct.buffers.back(),
              operation.spread ? input_bytes(operation, stage, r) : bytes);
  }
  if (!direct.views->empty()) direct.peers.memory = &*direct.views;
  direct.inside = common_pages(direct, stage, bytes);
  if (all_can(operation, stage, bytes)) {
    if (!sees_all(operation, stage)) group.mark_refused(group.rank(), position);
    group.publish_out(position);
    co_await strand.until(group.others_out(position));
    direct.went = !group.any_refused(position);
  }
  group.finish(position);
  if (direct.went && operation.spread) co_await share_edges(strand, operation, stage);
  publish(direct.known, 1);
}

// Returns the range that both have, counted from the beginning of the chunk.
Part within(Part chunk, Part inside) {
  const Part both = common(chunk, inside);
  return both.bytes > 0 ? Part{both.offset - chunk.offset, both.bytes} : Part{0, 0};
}

// Folds this rank's share of a chunk into the place where the result is needed.
void fold_share(const Operation& operation, const Stage& stage, Part share, std::byte* to) {
  const DirectLevel& direct = operation.direct;
  const LevelGroup& level = *stage.group;
  const std::uintptr_t output = direct.buffers[static_cast<std::size_t>(stage.root)].output;
  const bool elsewhere = !to;
  if (elsewhere && !direct.peers.streams) {
    to = seen(direct.peers, stage.root, output + share.offset, share.bytes);
  }
  const bool stores = elsewhere && !to;
  fold_from(
      operation.reduction, direct.peers, level.up.fold_order(), level.rank, share,
      [&](int r) { return direct.buffers[static_cast<std::size_t>(r)].input; }, to,
      [&](std::size_t at, const std::byte* result, std::size_t bytes) {
        if (stores) store(direct.peers, stage.root, output + at, result, bytes);
      });
}

// All ranks fold shares of the inside, and the rank that gets the result folds the edges. If that
// rank has no output of its own, the others put their shares into slots of a second position.
Task fold_chunk(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  ShmGroup& group = stage.group->up;
  const bool slots = !has_output(operation, stage), target = group.rank() == stage.root;
  const bool last = chunk + 1 == operation.count();
  const Part whole = operation.chunks[chunk];
  const Part inside = within(whole, operation.direct.inside);
  const Parts shares{inside.bytes, group.size()};
  const Part share = shares[group.rank()];
  const Use use{.room = group.slot_bytes(), .results = true};
  const std::uint64_t position = group.take(slots ? 2 : 1, use);
  const std::uint64_t second = position + (slots ? 1 : 0);
  co_await strand.until(group.slot_free(second));
  const Edges edges(whole.bytes, inside);
  edges.show(group, position, operation.reduction.input + whole.offset);
  std::byte* const result = target ? operation.result(chunk) : nullptr;
  std::byte* to = target ? result + inside.offset + share.offset : nullptr;
  if (!target && slots) to = group.payload(group.rank(), second);
  if (share.bytes > 0) {
    const Part range{whole.offset + inside.offset + share.offset, share.bytes};
    fold_share(operation, stage, range, to);
  }
  group.publish_in(second);
  // The others read this rank's input until then.
  if (target || last) co_await strand.until(group.others_in(second));
  if (target && edges.bytes() > 0) {
    ReduceArguments args = operation.reduction;
    args.count = whole.bytes / args.element;
    edges.fold_into(group, position, args, {0, whole.bytes}, result);
  }
  for (int r = 0; target && slots && r < group.size(); ++r) {
    const Part theirs = shares[r];
    if (r == group.rank() || theirs.bytes == 0) continue;
    std::memcpy(result + inside.offset + theirs.offset, group.payload(r, second), theirs.bytes);
  }
  for (std::uint64_t p = position; p <= second; ++p) group.finish(p);
}

Task copy_chunk(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  ShmGroup& group = stage.group->down;
  const DirectLevel& direct = operation.direct;
  const bool source = group.rank() == stage.root;
  const Part whole = operation.chunks[chunk];
  const Part inside = within(whole, direct.inside);
  const Bytes own = operation.bcast.buffer + whole.offset;
  const Edges edges(whole.bytes, inside);
  const std::uint64_t position = group.take(1, {.room = group.slot_bytes(), .results = true});
  if (source) {
    co_await strand.until(group.slot_free(position));
    edges.show(group, position, own);
    group.publish_in(position);
  } else {
    co_await strand.until(group.in(stage.root, position));
    const std::uintptr_t from = direct.buffers[static_cast<std::size_t>(stage.root)].output;
    const std::size_t at = whole.offset + inside.offset;
    if (inside.bytes > 0) {
      fetch(direct.peers, stage.root, from + at, own.at() + inside.offset, inside.bytes);
    }
    if (edges.bytes() > 0) edges.take(group, position, stage.root, {0, whole.bytes}, own);
  }
  group.finish(position);
  // The others read this rank's buffer until they have finished.
  const bool last = chunk + 1 == operation.count();
  if (source && last) co_await strand.until(group.finished_by_others(position));
}

Task do_in_place(Strand& strand, Operation& operation, Stage& stage, Worker&, std::size_t chunk) {
  if (is_reduced(stage)) return fold_chunk(strand, operation, stage, chunk);
  return copy_chunk(strand, operation, stage, chunk);
}

// The ranks find out that they go direct when the plan has been made and priced.
const StageWork kInPlace{do_in_place, nullptr}, kPartsInPlace{do_parts_in_place, nullptr};

// Returns true if the stage may go in place in this operation.
bool may_be_in_place(const Operation& operation, const Stage& stage) {
  return operation.direct.tried && stage.level == 0 &&
         (!operation.spread || parts_may_be_in_place(operation, stage));
}

// Finds out whether the group goes direct. If it does, the stage works in place from then on.
Task settle(Strand& strand, Operation& operation, std::size_t number) {
  DirectLevel& direct = operation.direct;
  Stage& stage = operation.stages[number];
  if (number == direct.meets) {
    co_await meet(strand, operation, stage);
  } else {
    co_await strand.until(direct.known, 1);
  }
  if (!direct.went) co_return;
  stage.work = operation.spread ? &kPartsInPlace : &kInPlace;
  stage.algorithm = is_reduced(stage)                        ? Algorithm::reduce_direct
                    : stage.kind == StagePlan::Kind::collect ? Algorithm::allgather_direct
                                                             : Algorithm::bcast_direct;
}

Task try_in_place(Strand& strand, Operation& operation, std::size_t number, int which) {
  co_await settle(strand, operation, number);
  co_await run_in_chunks(strand, operation, number, which);
}

}  // namespace

void DirectLevel::begin(const DirectTry& attempt, const Operation& operation) {
  tried = went = false;
  known.store(0, std::memory_order_relaxed);
  mapped = attempt.mapped;
  page = attempt.page;
  if (!attempt.wanted()) return;
  for (meets = 0; meets < operation.num_stages; ++meets) {
    const Stage& stage = operation.stages[meets];
    if (stage.level != 0) continue;
    const bool meets_leader = is_reduced(stage) || stage.kind == StagePlan::Kind::bcast;
    const bool whole = stage.work == &kWholeChunks && meets_leader;
    const bool parts = stage.work == &kPartsOfChunks && parts_may_be_in_place(operation, stage);
    tried = stage.group->shared && (whole || parts);
    peers = stage.group->peers;
    peers.mapped = true;
    peers.streams = kCanStream && stage.group->measured.streams();
    return;
  }
}

Task run_in_place_or_not(Strand& strand, Operation& operation, std::size_t number, int which) {
  const bool tries = may_be_in_place(operation, operation.stages[number]);
  return (tries ? try_in_place : run_in_chunks)(strand, operation, number, which);
}

ReachedMemory reached_in_level(const LevelGroup& lowest, Collective collective,
                               const CallArguments& args) {
  const bool leads = lowest.rank == lowest.leader;
  const std::size_t bytes = args.bytes(collective);
  const ReduceArguments& reduction = args.reduction;
  if (collective == Collective::allreduce) {
    if (leads) return {{reduction.input, bytes}, {reduction.output, bytes}};
    return {{reduction.input, bytes}, {}};
  }
  if (collective == Collective::reduce) {
    return {{reduction.input, bytes}, {reduction.output, reduction.output ? bytes : 0}};
  }
  return reached_memory(lowest.members[lowest.rank], collective, args);
}

}  // namespace sumac

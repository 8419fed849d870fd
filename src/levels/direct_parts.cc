// SPDX-License-Identifier: BSD-3-Clause
#include "levels/direct_parts.h"

namespace sumac {
namespace {

ShmGroup& up_lane(const Stage& stage) { return stage.group->up; }

// Returns the edges of a member's input.
Edges edges_of(const Operation& operation, const Stage& stage, int member) {
  return {input_bytes(operation, stage, member), inside_of_parts(operation, stage, member)};
}

// Returns where this rank has kept the edges of a member's input.
const std::byte* kept_edges(const Operation& operation, const Stage& stage, int member) {
  return operation.direct.edges.data() +
         static_cast<std::size_t>(member) * up_lane(stage).slot_bytes();
}

std::uintptr_t input_of(const Operation& operation, int member) {
  return operation.direct.buffers[static_cast<std::size_t>(member)].input;
}

// Folds a range of all members' inputs into `to`.
void fold_range(const Operation& operation, const Stage& stage, Part range, std::byte* to) {
  const DirectLevel& direct = operation.direct;
  const ReduceScatterArguments& args = operation.reduce_scatter;
  const Part inside = common(range, direct.inside);
  if (inside.bytes > 0) {
    fold_from(
        args, direct.peers, up_lane(stage).fold_order(), stage.group->rank, inside,
        [&](int r) { return input_of(operation, r); }, to + (inside.offset - range.offset),
        [](std::size_t, const std::byte*, std::size_t) {});
  }
  edges_of(operation, stage, 0)
      .fold_into([&](int r) { return kept_edges(operation, stage, r); },
                 up_lane(stage).fold_order(), args, range, to);
}

// Folds the share `share` of a chunk, counted from its beginning, into `to`.
void fold_share(const Operation& operation, const Stage& stage, std::size_t chunk, Part share,
                std::byte* to) {
  const Spread& spread = *operation.spread;
  std::size_t at = 0;
  spread.for_each(chunk, 0, spread.ranks(), [&](int rank, std::size_t from, std::size_t bytes) {
    const Part both = common(share, {at, bytes});
    const std::size_t place = operation.reduce_scatter.parts[rank].offset + from;
    if (both.bytes > 0) {
      fold_range(operation, stage, {place + (both.offset - at), both.bytes},
                 to + (both.offset - share.offset));
    }
    at += bytes;
  });
}

Task fold_parts(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  ShmGroup& group = up_lane(stage);
  const bool leads = group.rank() == stage.root, last = chunk + 1 == operation.count();
  const Parts shares{operation.spread->bytes(chunk), group.size()};
  const std::uint64_t position = group.take(1, {.room = group.slot_bytes(), .results = true});
  co_await strand.until(group.slot_free(position));
  std::byte* const kept = operation.kept_chunk(chunk);
  const Part own = shares[group.rank()];
  std::byte* const to = leads ? kept + own.offset : group.payload(group.rank(), position);
  fold_share(operation, stage, chunk, own, to);
  group.publish_in(position);
  // The others read this rank's input until then.
  if (leads || last) co_await strand.until(group.others_in(position));
  for (int r = 0; leads && r < group.size(); ++r) {
    const Part theirs = shares[r];
    if (r == group.rank() || theirs.bytes == 0) continue;
    std::memcpy(kept + theirs.offset, group.payload(r, position), theirs.bytes);
  }
  group.finish(position);
}

// Copies a range of a member's input.
void copy_range(const Operation& operation, const Stage& stage, int member, Part range,
                std::byte* to) {
  const Part inside = common(range, inside_of_parts(operation, stage, member));
  if (inside.bytes > 0) {
    fetch(operation.direct.peers, member, input_of(operation, member) + inside.offset,
          to + (inside.offset - range.offset), inside.bytes);
  }
  edges_of(operation, stage, member).take(kept_edges(operation, stage, member), range, to);
}

Task collect_parts(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk) {
  ShmGroup& group = up_lane(stage);
  const LevelGroup& level = *stage.group;
  const Spread& spread = *operation.spread;
  const bool leads = level.rank == level.leader, last = chunk + 1 == operation.count();
  for (int m = 0; leads && m < level.size; ++m) {
    const int place = level.places[m];
    std::byte* const to = operation.kept_chunk(chunk) + spread.begin(chunk, place);
    spread.for_each(chunk, place, place + 1, [&](int, std::size_t from, std::size_t bytes) {
      if (m == level.rank) {
        (operation.allgather.input + from).copy_to(to, bytes);
      } else {
        copy_range(operation, stage, m, {from, bytes}, to);
      }
    });
  }
  if (!last) co_return;
  // The leader reads the members' inputs until then.
  const std::uint64_t position = group.take(1, {.results = true});
  co_await strand.until(group.slot_free(position));
  if (leads) {
    group.publish_in(position);
  } else {
    co_await strand.until(group.in(level.leader, position));
  }
  group.finish(position);
}

}  // namespace

bool parts_may_be_in_place(const Operation& operation, const Stage& stage) {
  const bool up = stage.kind == StagePlan::Kind::reduce || stage.kind == StagePlan::Kind::collect;
  return operation.spread && stage.first && up;
}

Buffers shown_parts(const Operation& operation, const Stage& stage) {
  const std::size_t bytes = input_bytes(operation, stage, stage.group->rank);
  const std::byte* input = operation.reduce_scatter.input;
  if (operation.gathers) {
    const ConstBytes& own = operation.allgather.input;
    input = own.contiguous() ? own.at() : nullptr;
  }
  return shown({{input, bytes}, {}}, operation.direct.mapped && bytes > 0);
}

std::size_t input_bytes(const Operation& operation, const Stage& stage, int member) {
  if (!operation.gathers) return operation.reduce_scatter.bytes();
  return operation.allgather.parts[stage.group->members[member]].bytes;
}

Part inside_of_parts(const Operation& operation, const Stage& stage, int member) {
  const DirectLevel& direct = operation.direct;
  if (!operation.gathers) return direct.inside;
  return inside_of(input_of(operation, member), input_bytes(operation, stage, member), direct.page);
}

bool parts_can(const Operation& operation, const Stage& stage) {
  const std::size_t room = up_lane(stage).slot_bytes();
  std::size_t all = 0, edges = 0;
  for (int m = 0; m < stage.group->size; ++m) {
    const std::size_t own = edges_of(operation, stage, m).bytes();
    if (own > room) return false;
    all += input_bytes(operation, stage, m);
    edges += own;
  }
  const Parts shares{operation.spread->bytes(0), stage.group->size};
  return edges <= all / 2 && (operation.gathers || shares.largest() <= room);
}

Task share_edges(Strand& strand, Operation& operation, const Stage& stage) {
  ShmGroup& group = up_lane(stage);
  const std::size_t room = group.slot_bytes();
  const std::uint64_t position = group.take(1, {.room = room, .results = true});
  co_await strand.until(group.slot_free(position));
  const ConstBytes input =
      operation.gathers ? operation.allgather.input : ConstBytes(operation.reduce_scatter.input);
  edges_of(operation, stage, group.rank()).show(group, position, input);
  operation.direct.edges.resize(static_cast<std::size_t>(group.size()) * room);
  for (int m = 0; m < group.size(); ++m) {
    const std::size_t bytes = edges_of(operation, stage, m).bytes();
    if (bytes == 0) continue;
    if (m != group.rank()) co_await strand.until(group.out(m, position));
    std::byte* const kept = operation.direct.edges.data() + static_cast<std::size_t>(m) * room;
    std::memcpy(kept, group.payload(m, position), bytes);
  }
  group.finish(position);
}

Task do_parts_in_place(Strand& strand, Operation& operation, Stage& stage, Worker&,
                       std::size_t chunk) {
  if (operation.gathers) return collect_parts(strand, operation, stage, chunk);
  return fold_parts(strand, operation, stage, chunk);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "levels/parts_stage.h"

#include <cstring>

namespace sumac {
namespace {

using Kind = StagePlan::Kind;

void list_parts(const Spread& spread, const LevelGroup& group, std::size_t chunk,
                std::vector<Part>& parts) {
  parts.clear();
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < group.places.size(); ++i) {
    const std::size_t bytes = spread.bytes(chunk, group.places[i], group.places[i + 1]);
    parts.push_back({end, bytes});
    end += bytes;
  }
}

}  // namespace

Part work_of(const Spread& spread, bool gathers, const StagePlan& stage, const LevelGroup& group,
             std::size_t chunk, std::vector<Part>& parts) {
  switch (stage.kind) {
    case Kind::exchange:
    case Kind::collect:
      list_parts(spread, group, chunk, parts);
      return {spread.begin(chunk, group.places[0]), parts.back().offset + parts.back().bytes};
    case Kind::bcast:
      if (!gathers) return {0, spread.piece(chunk, spread.top_of(group.places[0])).bytes};
      break;
    case Kind::reduce:
    case Kind::scatter:
    case Kind::gather:
      break;
  }
  return {0, spread.bytes(chunk)};
}

CallArguments arguments_of_parts(const Operation& operation, const Stage& stage, std::size_t chunk,
                                 std::vector<Part>& parts, std::size_t& bytes) {
  const LevelGroup& group = *stage.group;
  const Part work = work_of(*operation.spread, operation.gathers, stage, group, chunk, parts);
  std::byte* const data = operation.kept_chunk(chunk) + work.offset;
  const Parts listed{work.bytes, group.size, 1, 0, parts.data()};
  bytes = work.bytes;
  if (stage.kind == Kind::bcast) return BcastArguments{data, bytes, stage.root, stage.radix};
  if (operation.gathers) {
    return AllgatherArguments{data + listed[group.rank].offset, data, listed, stage.radix};
  }
  ReduceArguments reduction = operation.reduce_scatter;
  reduction.count = bytes / reduction.element;
  reduction.root = stage.root;
  reduction.radix = stage.radix;
  reduction.input = data;
  if (stage.kind == Kind::exchange) {
    reduction.output = data + listed[group.rank].offset;
    return ReduceScatterArguments{reduction, listed};
  }
  reduction.output = group.rank == stage.root ? data : nullptr;
  return reduction;
}

void settle_piece(const Stage& stage, const CallArguments& args) {
  if (stage.kind != Kind::exchange) return;
  const ReduceScatterArguments& done = args.reduce_scatter;
  const Part own = done.parts[stage.group->rank];
  if (own.offset > 0) std::memmove(done.output - own.offset, done.output, own.bytes);
}

void load_parts(const Operation& operation, std::size_t chunk) {
  const Spread& spread = *operation.spread;
  std::byte* to = operation.kept_chunk(chunk);
  if (operation.gathers) {
    const ConstBytes& input = operation.allgather.input;
    to += spread.begin(chunk, operation.place);
    spread.for_each(
        chunk, operation.place, operation.place + 1,
        [&](int, std::size_t from, std::size_t bytes) { (input + from).copy_to(to, bytes); });
    return;
  }
  const ReduceScatterArguments& args = operation.reduce_scatter;
  spread.for_each(chunk, 0, spread.ranks(), [&](int rank, std::size_t from, std::size_t bytes) {
    std::memcpy(to, args.input + args.parts[rank].offset + from, bytes);
    to += bytes;
  });
}

void store_parts(const Operation& operation, std::size_t chunk) {
  const Spread& spread = *operation.spread;
  const std::byte* data = operation.kept_chunk(chunk);
  if (operation.gathers) {
    const AllgatherArguments& args = operation.allgather;
    spread.for_each(chunk, 0, spread.ranks(), [&](int rank, std::size_t from, std::size_t bytes) {
      (args.output + (args.parts[rank].offset + from)).copy_from(data, bytes);
      data += bytes;
    });
    return;
  }
  std::byte* const result = operation.reduce_scatter.output;
  data += spread.begin_in_piece(chunk, operation.place);
  spread.for_each(
      chunk, operation.place, operation.place + 1,
      [&](int, std::size_t from, std::size_t bytes) { std::memcpy(result + from, data, bytes); });
}

}  // namespace sumac

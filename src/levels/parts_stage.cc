// SPDX-License-Identifier: BSD-3-Clause
// These are the stages of a reduce-scatter and an all-gather over a hierarchy, on chunks of a
// Spread.
//   Reduce-scatter  groups reduce whole chunks to their leaders; the last level's reduce-scatter
//                   leaves each of its members the piece of the ranks that it stands for, which
//                   goes down to all of them
//   All-gather      all ranks of a group collect its ranks' data; the last level gathers the pieces
//                   of its members, and the whole chunk goes down
// Both begin with a copy of the rank's data into a chunk of its own, in the order of the tree, and
// end with a copy of the rank's result out of it: ranks of a node need not follow one another.
#include <cstring>

#include "algorithms/table.h"
#include "levels/price.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

using Kind = StagePlan::Kind;

void list_parts(const Spread& spread, const LevelGroup& group, std::size_t chunk,
                std::vector<Part>& parts) {
  parts.clear();
  std::size_t end = 0;
  for (int i = 0; i + 1 < group.places.size(); ++i) {
    const std::size_t bytes = spread.bytes(chunk, group.places[i], group.places[i + 1]);
    parts.push_back({end, bytes});
    end += bytes;
  }
}

// Returns the bytes of a chunk on which the group of a stage works, and where they begin in the
// chunk that a rank keeps. Unless the stage is a broadcast or a reduction, `parts` gets the
// members' parts, counted from there.
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

// Returns the arguments of the stage's algorithm on `work`, a part of the chunk.
CallArguments arguments_of(const Operation& operation, const Stage& stage, std::size_t chunk,
                           const Part& work, const std::vector<Part>& parts) {
  const LevelGroup& group = *stage.group;
  std::byte* const data = operation.kept_chunk(chunk) + work.offset;
  const Parts listed{work.bytes, group.size, 1, 0, parts.data()};
  if (stage.kind == Kind::bcast) return BcastArguments{data, work.bytes, stage.root, stage.radix};
  if (operation.gathers) {
    return AllgatherArguments{data + listed[group.rank].offset, data, listed, stage.radix};
  }
  ReduceArguments reduction = operation.reduce_scatter;
  reduction.count = work.bytes / reduction.element;
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

// A reduce-scatter leaves its piece where it was reduced. This moves it to the beginning of the
// chunk.
void settle_piece(const CallArguments& args, int rank) {
  const ReduceScatterArguments& done = args.reduce_scatter;
  const Part own = done.parts[rank];
  if (own.offset > 0) std::memmove(done.output - own.offset, done.output, own.bytes);
}

// Copies the rank's data into the chunk that it keeps, before its first stage.
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

// Copies the rank's result out of the chunk, after its last stage.
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

Task piece(Strand& strand, Operation& operation, Stage& stage, Worker& worker, std::size_t chunk) {
  if (stage.first) load_parts(operation, chunk);
  const Part work =
      work_of(*operation.spread, operation.gathers, stage, *stage.group, chunk, worker.parts);
  if (work.bytes > 0) {
    worker.args = arguments_of(operation, stage, chunk, work, worker.parts);
    co_await start_on_level(strand, stage, worker);
    const bool scatters = !operation.gathers && stage.kind == Kind::exchange;
    if (scatters) settle_piece(worker.args, stage.group->rank);
  }
  if (&stage == &operation.stages[operation.num_stages - 1]) store_parts(operation, chunk);
}

Traffic price_parts(const CallPlan& plan, const StagePlan& stage, const LevelGroup& group,
                    const CallShape& shape) {
  const bool gathers = shape.collective == Collective::allgather;
  std::vector<Part> parts;
  return price_of_each(plan.spread.count(), [&](std::size_t chunk) {
    const Part work = work_of(plan.spread, gathers, stage, group, chunk, parts);
    if (work.bytes == 0) return traffic_in_memory(0, 0);
    return entry_of(stage.algorithm)
        .cost({group.size, stage.root, work.bytes, work.bytes, stage.radix, shape.element,
               parts.data()});
  });
}

}  // namespace

const StageWork kPartsOfChunks{piece, price_parts, run_in_place_or_not};

}  // namespace sumac

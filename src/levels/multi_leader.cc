// SPDX-License-Identifier: BSD-3-Clause
// All-reduce in which every rank of a node is a leader, for nodes of the same number of ranks. The
// vector is cut into one part for each rank of the node. Three strands get it piece by piece:
//   scatter   ranks of the node put pieces of all parts into slots; each folds those of its part
//   exchange  each reduces its part with the ranks of the same place on the other nodes
//   gather    each puts its results into slots, and copies the others' out
//   Steps     in the node 2, pipelined; between nodes as the algorithm for n/p there
//   Bytes     a node sends what one leader would, from all its ranks at the same time
//   Wins      large messages, where one rank cannot use up what the node's network gives
//   Needs     two levels: nodes that share memory, and the level between them
#include "algorithms/slots.h"
#include "levels/call_plan.h"
#include "levels/price.h"
#include "levels/stage_works.h"

namespace sumac {
namespace {

std::size_t piece_in(std::size_t slot_bytes, int ranks) {
  return slot_bytes / static_cast<std::size_t>(ranks) / kCacheLine * kCacheLine;
}

// All parts go through the slots in steps, with a piece of each part in a step.
struct Steps {
  Steps(const Operation& operation, const LevelGroup& node)
      : bytes(operation.reduction.bytes()),
        ranks(node.size),
        room(node.up.slot_bytes()),
        most(piece_in(room, ranks)) {}

  Part part(int rank) const { return part_of(bytes, ranks, rank); }
  std::size_t count() const { return div_up(part(0).bytes, most); }
  // Returns the piece of a rank's part in a step.
  Piece piece(std::size_t step, int rank) const {
    const Part whole = part(rank);
    const std::size_t offset = std::min(whole.bytes, step * most);
    return {whole.offset + offset, std::min(most, whole.bytes - offset),
            static_cast<std::size_t>(rank) * most};
  }

  std::size_t bytes;  // bytes of the vector
  int ranks;          // ranks of the node
  std::size_t room;   // bytes of a slot that are used
  std::size_t most;   // the most of them that one part has
};

void note_step(Stage& stage, std::size_t step, std::uint64_t begun) {
  if (begun) record_piece(stage, *stage.group, step, begun);
  stage.done.note(step);
}

Task scatter_parts(Strand& strand, Operation& operation, std::size_t number, int) {
  Stage& stage = operation.stages[number];
  const ReduceArguments& args = operation.reduction;
  const Steps steps(operation, *stage.group);
  ShmGroup& group = stage.group->up;
  const std::uint64_t first = group.take(steps.count(), {.room = steps.room});
  for (std::size_t step = 0; step <= steps.count(); ++step) {
    if (step < steps.count()) {
      co_await strand.until(group.slot_free(first + step));
      put_for_others(group, first + step, args.input, steps, step);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    co_await strand.until(group.others_in(first + step - 1));
    const std::uint64_t begin = begin_piece();
    const Piece own = steps.piece(step - 1, group.rank());
    fold_piece(group, first + step - 1, args, own, args.output + own.offset);
    group.finish(first + step - 1);
    note_step(stage, step - 1, begin);
  }
}

// Works in place on the rank's own part, of which operation.chunks are the chunks.
Task exchange(Strand& strand, Operation& operation, std::size_t number, int which) {
  Stage& stage = operation.stages[number];
  Worker& worker = operation.worker(number, static_cast<std::size_t>(which));
  const LevelGroup& node = *operation.stages[number - 1].group;
  const Steps steps(operation, node);
  const Part own = steps.part(node.rank);
  const Chunks& chunks = operation.chunks;
  const auto width = static_cast<std::size_t>(stage.done.width());
  for (auto c = static_cast<std::size_t>(which); c < chunks.count() && own.bytes > 0; c += width) {
    const Part part = chunks[c];
    const std::size_t last = div_up(part.offset + part.bytes, steps.most) - 1;
    co_await strand.until(operation.progress(stage.after).done(last));
    ReduceArguments reduction = operation.reduction;
    reduction.radix = stage.radix;
    reduction.output += own.offset + part.offset;
    reduction.input = reduction.output;
    reduction.count = part.bytes / reduction.element;
    worker.args = reduction;
    const std::uint64_t begin = begin_piece();
    co_await start_on_level(strand, stage, worker);
    note_step(stage, c, begin);
  }
}

Task gather_parts(Strand& strand, Operation& operation, std::size_t number, int) {
  Stage& stage = operation.stages[number];
  std::byte* const output = operation.reduction.output;
  const Steps steps(operation, *stage.group);
  ShmGroup& group = stage.group->down;
  const ChunkCounter& exchanged = operation.progress(stage.after);
  const std::uint64_t first = group.take(steps.count(), {.room = steps.room});
  for (std::size_t step = 0; step <= steps.count(); ++step) {
    if (step < steps.count()) {
      const Piece own = steps.piece(step, group.rank());
      if (own.bytes > 0) {
        // It waits for all chunks up to the last that has data of the piece. Each strand does every
        // other chunk.
        const std::size_t last = (step * steps.most + own.bytes - 1) / operation.chunks[0].bytes;
        if (last > 0) co_await strand.until(exchanged.done(last - 1));
        co_await strand.until(exchanged.done(last));
      }
      co_await strand.until(group.slot_free(first + step));
      group.store(first + step, group.payload(group.rank(), first + step) + own.place,
                  output + own.offset, own.bytes);
      group.publish_in(first + step);
    }
    if (step == 0) continue;
    const std::uint64_t position = first + step - 1;
    co_await strand.until(group.others_in(position));
    const std::uint64_t begin = begin_piece();
    take_from_others(group, position, output, steps, step - 1);
    group.finish(position);
    note_step(stage, step - 1, begin);
  }
}

Traffic in_slots(const CallPlan& plan, const LevelGroup& group, std::uint64_t bytes) {
  const std::size_t piece = piece_in(Layout{}.slot_bytes, group.size);
  const std::size_t steps = div_up(plan.chunks[0].bytes, piece) + 1;
  Traffic all = through_slots(group.size, steps * plan.chunks.count(), bytes, group.size - 1);
  all.cost.steps = steps;
  return all;
}

Traffic price_scatter(const CallPlan& plan, const StagePlan&, const LevelGroup& group,
                      const CallShape& shape) {
  GroupCall call;
  call.ranks = group.size;
  call.bytes = shape.bytes;
  return in_slots(plan, group, 2 * others_parts(call));
}

Traffic price_gather(const CallPlan& plan, const StagePlan&, const LevelGroup& group,
                     const CallShape& shape) {
  return in_slots(plan, group, shape.bytes);
}

// These stages do not work on the same pieces, so each runs through its own. The rank's own part is
// exchanged like a vector of its own.
const StageWork kScatter{nullptr, price_scatter, scatter_parts};
const StageWork kExchange{nullptr, price_whole_chunks, exchange};
const StageWork kGather{nullptr, price_gather, gather_parts};

}  // namespace

void plans::multi_leader(const AgreedLevels& agreed, const CallShape& shape, CallPlan& plan) {
  const LevelGroup& node = agreed.groups[0];
  list_around_exchange(Workers::level, Workers::counterparts, plan.choice.algorithm, plan.stages);
  plan.stages[0].work = &kScatter;
  plan.stages[1].work = &kExchange;
  plan.stages[2].work = &kGather;
  plan.chunks = {part_of(shape.bytes, node.size, node.rank).bytes,
                 std::max<std::size_t>(plan.choice.chunk, kCacheLine), kCacheLine};
  choose(agreed.counterparts.choices, false, Collective::allreduce,
         {plan.chunks[0].bytes, plan.chunks.count()}, plan.stages[1]);
}

}  // namespace sumac

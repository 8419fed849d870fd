// SPDX-License-Identifier: BSD-3-Clause
// All-reduce over slots, with split work. Each chunk is divided into one part for each rank: a rank
// copies the others' parts into its slot, folds its own part of all ranks' slots into its output,
// copies the result into its slot, and copies the other parts' results out. Half a ring of chunks
// goes through one stage before the next stage begins, so that a rank seldom waits for data that
// were just written. Results are not folded into the slot: ordinary stores would recall each line
// from the rank that read it last, and the copy avoids that where it costs much (hand_over.h).
//   Steps    2 a chunk (inputs in, results out), pipelined
//   Bytes    a rank copies 2n(p-1)/p and folds n in all: p times less arithmetic than flat
//   Wins     medium messages of three ranks and more, and between two ranks near one another; large
//            messages where single copy is not available
//   Needs    slots, a ring of 4 or more. Every element is reduced once, by one rank: same bits
#include "algorithms/functions.h"
#include "algorithms/slots.h"

namespace sumac::allreduce {
namespace {

void fold_own(ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
              const SplitChunks& cut, std::size_t step) {
  const Piece own = cut.piece(step, group.rank());
  std::byte* const result = args.output + own.offset;
  fold_piece(group, position, args, own, result);
  std::byte* const slot = group.payload(group.rank(), position);
  group.store(position, slot + own.place, result, own.bytes);
}

}  // namespace

Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const SplitChunks cut(group.size(), args.bytes(), group.widest_payload(), args.unit);
  const std::size_t steps = cut.steps(), most = group.ring() / 2;
  const std::uint64_t first = group.take(steps, {.room = cut.room(), .results = true});
  for (std::size_t begin = 0; begin < steps; begin += most) {
    const std::size_t end = std::min(steps, begin + most);
    for (std::size_t step = begin; step < end; ++step) {
      co_await strand.until(group.slot_free(first + step));
      put_for_others(group, first + step, args.input, cut, step);
      group.publish_in(first + step);
    }
    for (std::size_t step = begin; step < end; ++step) {
      co_await strand.until(group.others_in(first + step));
      fold_own(group, first + step, args, cut, step);
      group.publish_out(first + step);
    }
    for (std::size_t step = begin; step < end; ++step) {
      co_await strand.until(group.others_out(first + step));
      take_from_others(group, first + step, args.output, cut, step);
      group.finish(first + step);
    }
    // Others publish results of these chunks only after they have copied out the results before.
    group.note_finished_before(first + begin);
  }
}

Traffic split_slots_cost(const GroupCall& call) {
  return through_slots(call.ranks, divided_chunks(call) + 1, call.bytes + 2 * others_parts(call),
                       call.ranks - 1);
}

}  // namespace sumac::allreduce

// SPDX-License-Identifier: BSD-3-Clause
// All-reduce in two steps over lines. Each rank folds the lines of its run of neighbouring ranks,
// shows the result in lines of a second position, and folds those of one rank of each run.
//   Steps    2, no entry or exit barrier
//   Bytes    a rank writes 2n and reads n(r + p/r), with runs of r ranks; as many ranks read a line
//   Wins     small messages of many ranks: flat_lines has p readers of each line, one after another
//   Needs    slots, n <= kLinesData. The group's order of folding has these runs (fold_order.h), so
//            the bits are those of flat_lines
#include "algorithms/functions.h"
#include "algorithms/lines.h"
#include "algorithms/runs.h"

namespace sumac::allreduce {
namespace {

void show(ShmGroup& group, std::uint64_t position, const std::byte* data, std::size_t bytes) {
  put_lines(group, position, data, bytes);
  group.note_lines(lines_for(bytes));
  group.prefetch_next_slot(position);
}

}  // namespace

Task two_steps(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const std::size_t bytes = args.bytes();
  const int lines = lines_for(bytes);
  // The program's function folds one rank after another.
  const FoldOrder order = args.user ? FoldOrder(group.size()) : group.fold_order();
  const Runs runs(order, group.rank());
  // Each message has lines of its own, so each takes its position by itself.
  const std::uint64_t first = group.take(1, {.lines = lines});
  const std::uint64_t second = group.take(1, {.lines = lines});
  co_await strand.until(group.slot_free(first));
  show(group, first, args.input, bytes);
  for (int i = 0; i < runs.members(); ++i) {
    const int r = runs.member(i);
    if (r != group.rank()) co_await strand.until(group.lines_in(r, first, lines));
  }
  const LineSources run{runs.members(), [&](int i) { return runs.member(i); }, args.input};
  fold_lines(group, first, args, run, {0, bytes}, args.output);
  co_await strand.until(group.slot_free(second));
  show(group, second, args.output, bytes);
  for (int i = 0; i < runs.count(); ++i) {
    const int r = runs.partner(i);
    if (r != group.rank()) co_await strand.until(group.lines_in(r, second, lines));
  }
  const LineSources all{runs.count(), [&](int i) { return runs.partner(i); }, args.output};
  if (runs.count() > 1) fold_lines(group, second, args, all, {0, bytes}, args.output);
  group.finish(first);
  group.finish(second);
  // Each partner has seen that all ranks of its run had finished what came before.
  group.note_finished_before(first);
}

Traffic two_steps_cost(const GroupCall& call) {
  const FoldOrder order = FoldOrder::of_group(call.ranks);
  const int others = order.length_of(0) - 1 + order.runs() - 1, lines = lines_for(call.bytes);
  // The rank has the last of all others' data, by way of those that it waits for.
  return through_lines(2, (2 + static_cast<std::uint64_t>(others)) * call.bytes, call.ranks - 1,
                       {2 * lines, others * lines});
}

}  // namespace sumac::allreduce

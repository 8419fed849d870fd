// SPDX-License-Identifier: BSD-3-Clause
// All-reduce, flat over lines. Every rank writes its data into its own slot's lines, waits for all
// others' lines and folds them all, in the group's order, into its own result.
//   Steps    1, no entry or exit barrier
//   Bytes    a rank writes n and reads p*n; p*n element operations on every rank
//   Wins     small messages: the one transfer of a cache line is nearly all there is to wait for
//   Needs    slots, n <= kLinesData. Every rank folds in the same order: same bits on all
//
// Blocking calls take a direct path beside the coroutine, of the same two steps: setting up a
// coroutine and taking it down takes some 35 ns of the 300 ns of a call.
#include "algorithms/functions.h"
#include "algorithms/lines.h"

namespace sumac::allreduce {
namespace {

void show_own(ShmGroup& group, std::uint64_t position, const ReduceArguments& args) {
  put_lines(group, position, args.input, args.bytes());
  group.note_lines(lines_for(args.bytes()));
  group.prefetch_next_slot(position);
}

void fold_all(ShmGroup& group, std::uint64_t position, const ReduceArguments& args) {
  fold_lines(group, position, args);
  group.finish(position);
  group.note_finished_before(position);
}

}  // namespace

Task flat_lines(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const std::uint64_t position = group.take(1, {.lines = lines_for(args.bytes())});
  co_await strand.until(group.slot_free(position));
  show_own(group, position, args);
  co_await strand.until(group.others_in(position));
  const int lines = lines_for(args.bytes());
  for (int r = 0; r < group.size() && lines > 1; ++r) {
    if (r != group.rank()) co_await strand.until(group.lines_in(r, position, lines));
  }
  fold_all(group, position, args);
}

void flat_lines_directly(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                         const WaitPolicy& policy) {
  const std::uint64_t position = group.take(1, {.lines = lines_for(args.bytes())});
  strand.wait_directly(group.slot_free(position), policy);
  show_own(group, position, args);
  strand.wait_directly(group.others_in(position), policy);
  const int lines = lines_for(args.bytes());
  for (int r = 0; r < group.size() && lines > 1; ++r) {
    if (r != group.rank()) strand.wait_directly(group.lines_in(r, position, lines), policy);
  }
  fold_all(group, position, args);
}

Traffic flat_lines_cost(const GroupCall& call) {
  const int lines = lines_for(call.bytes), others = call.ranks - 1;
  return through_lines(1, call.bytes + others_vectors(call), others, {lines, others * lines});
}

}  // namespace sumac::allreduce

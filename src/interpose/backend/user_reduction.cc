// SPDX-License-Identifier: BSD-3-Clause
// Blocking reductions by operations of the program's own. Commutative or not: each rank folds for
// itself and in rank order, in the thread that called.
#include <bit>
#include <cstring>

#include "interpose/backend/packing.h"
#include "interpose/backend/reduction.h"

namespace sumac {
namespace {

TypedBuffer buffer_at(const void* address, const Reduction& call) {
  return {const_cast<void*>(address), call.count, call.type, call.comm};
}

// No communication: one rank, or no data.
void copy_input(MpiFold& fold, const Reduction& call, const ReduceArguments& args) {
  if (args.bytes() == 0 || args.input == args.output) return;
  if (fold.layout().dense) {
    std::memcpy(args.output, args.input, args.bytes());
    return;
  }
  std::byte* packed = fold.packed(args.bytes());
  pack_elements(buffer_at(args.input, call), args.bytes(), packed);
  unpack_elements(buffer_at(args.output, call), args.bytes(), packed);
}

// What the work describes, on packed elements.
void run_packed(Communicator& c, const Reduction& call) {
  ReduceArguments& args = c.work.call.reduction;
  if (c.fold.layout().dense) return run(c);
  std::byte* const output = args.output;
  std::byte* const packed = c.fold.packed(args.bytes());
  pack_elements(buffer_at(args.input, call), args.bytes(), packed);
  args.input = packed;
  if (output) args.output = packed;
  run(c);
  if (output && !c.fold.exception()) unpack_elements(buffer_at(output, call), args.bytes(), packed);
}

// Whether ranks as they are can fold such elements for themselves; a function of what all share.
bool can_fold(const Communicator& c, Collective collective, std::size_t element, Choice& choice,
              Reason& reason) {
  reason = Reason::user_op_levels;
  if (c.levels_for[static_cast<int>(collective)]) return false;
  reason = Reason::rules;
  if (choice.algorithm == Algorithm::native) return false;
  reason = Reason::user_element;
  choice = without_single_copy(choice);
  return element <= c.group.slot_bytes();
}

}  // namespace

bool serve_user_reduction(Entry& entry, const Reduction& call, Communicator& c, Reason& reason,
                          int& error) {
  ReduceArguments& args = c.work.call.reduction;
  reason = Reason::arguments;
  if (call.type == MPI_DATATYPE_NULL || !judge_arguments(call, c, args)) return false;
  TypeLayout& layout = c.fold.layout();
  error = find_layout(call.type, call.comm, layout);
  if (error != MPI_SUCCESS) {
    entry.hand_down(c.stats, reason, 0);
    return true;
  }
  args.element = layout.size;
  c.fold.begin(call.type, call.op, call.comm);
  if (is_local(c, args.bytes())) {
    copy_input(c.fold, call, args);
    entry.take_locally(c.stats, args.bytes());
    error = c.fold.end();
    return true;
  }
  Choice choice = c.choose(entry.collective(), args.bytes());
  if (!can_fold(c, entry.collective(), layout.size, choice, reason)) return false;
  c.work.call.collective = entry.collective();
  c.work.call.choice = choice;
  args.user = &c.fold;
  const bool divides = layout.size <= kCacheLine && std::has_single_bit(layout.size);
  args.unit = divides ? kCacheLine : layout.size;
  // Nobody else may call the program's function, and whoever looks at a queue could.
  if (!c.queue.empty()) c.queue.finish_all(c.wait_policy);
  run_packed(c, call);
  args.user = nullptr;
  args.unit = kCacheLine;
  error = c.fold.end();
  entry.take(c.stats, choice.algorithm, args.bytes());
  return true;
}

}  // namespace sumac

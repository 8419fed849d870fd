// SPDX-License-Identifier: BSD-3-Clause
// Blocking reductions by the program's own operations, commutative or not, fold in rank order, in
// the thread that made the call. With types of one byte, the function sees whole vectors, since
// programs reduce objects that travel as bytes, which MPIs cut late or never. With other types it
// sees as many elements as a chunk has.
#include <algorithm>
#include <bit>
#include <cstring>

#include "interpose/calls/call_data.h"
#include "interpose/calls/perform.h"
#include "interpose/mpi/packing.h"
#include "progress/announced.h"

namespace sumac {
namespace {

TypedBuffer buffer_at(const void* address, const Call& call) {
  return {{const_cast<void*>(address), call.receive.count, call.receive.type}, call.comm};
}

// Serves a call without communication: it has one rank, or no data.
void copy_input(MpiFold& fold, const Call& call, const ReduceArguments& args) {
  if (args.bytes() == 0 || args.input == args.output) return;
  if (fold.layout().dense) {
    std::memcpy(args.output, args.input, args.bytes());
    return;
  }
  std::byte* packed = fold.packed(args.bytes());
  pack_elements(buffer_at(args.input, call), args.bytes(), packed);
  unpack_elements(buffer_at(args.output, call), args.bytes(), packed);
}

// Returns the number of bytes at whose multiples vectors may be cut.
std::size_t unit_of(const Communicator& c, const ReduceArguments& args) {
  if (c.fold.is_whole()) return args.bytes();
  const bool divides = args.element <= kCacheLine && std::has_single_bit(args.element);
  return divides ? kCacheLine : args.element;
}

// Runs with all ranks, each of which may fold, on packed elements.
void run_together(Communicator& c, const Call& call, const Choice& choice, ReduceArguments args) {
  // No other thread may call the program's function, and any thread that looks at the queue could.
  if (!c.queue.empty()) c.queue.finish_all(c.wait_policy);
  args.user = &c.fold;
  args.unit = unit_of(c, args);
  std::byte* const output = args.output;
  const bool packs = !c.fold.layout().dense;
  std::byte* const packed = packs ? c.fold.packed(args.bytes()) : nullptr;
  if (packs) {
    pack_elements(buffer_at(args.input, call), args.bytes(), packed);
    args.input = packed;
    if (output) args.output = packed;
  }
  run(c, {args, call.collective(), choice, kReducesByFunction});
  const bool unpacks = packs && output && !c.fold.exception();
  if (unpacks) unpack_elements(buffer_at(output, call), args.bytes(), packed);
}

// Returns true if the slots have room for what may not be cut. One rank may fold the vectors of
// all, one after another: so the limit is such that a tree of messages would not take it less time.
bool has_room(const Communicator& c, const Decision& decision) {
  constexpr std::size_t kMostOfAll = 256 << 10;
  const std::size_t slot = c.group.slot_bytes();
  if (!c.fold.is_whole()) return c.fold.layout().size <= slot;
  return decision.bytes <= std::min(slot, kMostOfAll / static_cast<std::size_t>(c.size));
}

}  // namespace

void decide_user_reduction(const Call& call, Decision& decision) {
  Communicator& c = *decision.communicator;
  const MpiDatatype type = call.receive.type;
  decision.by_user = true;
  decision.around = Decision::kUser;
  decision.reason = Reason::arguments;  // unless found to be another one
  if (type == kMpi.datatype_null || !judge_buffers(call, c)) return;
  TypeLayout& layout = c.fold.layout();
  decision.error = find_layout(type, call.comm, layout);
  decision.way = Decision::Way::refuse;
  if (decision.error != kMpiSuccess) return;
  decision.bytes = layout.size * static_cast<std::size_t>(call.receive.count);
  decision.way = Decision::Way::local;
  if (c.state == Communicator::State::alone || decision.bytes == 0) return;
  if (c.levels_for[static_cast<int>(call.collective())]) {
    return leave_to_mpi(decision, Reason::user_op_levels);
  }
  const Choice& choice = c.choose(call.collective(), decision.bytes);
  if (choice.algorithm == Algorithm::native) return leave_to_mpi(decision, Reason::rules);
  const bool in_lines = info_of(choice.algorithm).needs == Needs::lines;
  if (!in_lines && !has_room(c, decision)) {
    return leave_to_mpi(decision, Reason::user_vector);
  }
  decision.choice = without_single_copy(choice);
  decision.way = Decision::Way::serve;
  if (c.trials.rest_of(call.collective(), decision.bytes) == 0) put_around(call, decision);
}

int run_user_reduction(Entry& entry, const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  const ReduceArguments args = reduction_of(call, decision);
  c.fold.begin(call.receive.type, call.op, call.comm);
  if (decision.way == Decision::Way::local) {
    copy_input(c.fold, call, args);
    entry.take_locally(c.stats, decision.bytes);
    return c.fold.end();
  }
  run_together(c, call, decision.choice, args);
  const int error = c.fold.end();
  entry.take(c.stats, decision.choice.algorithm, decision.bytes);
  return error;
}

}  // namespace sumac

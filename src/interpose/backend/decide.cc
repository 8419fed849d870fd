// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/decide.h"

#include <climits>

#include "interpose/backend/calls.h"
#include "interpose/backend/packing.h"

namespace sumac {
namespace {

using Way = Decision::Way;
using State = Communicator::State;

// The MPI families differ in whether equal send and receive buffers are an error or go through.
constexpr bool kAliasIsError = kFamily == Family::mpich;

// Of a deferred call: why it is the MPI's on a communicator that Sumac serves, if it is.
bool may_outlive_call(const Call& call, Decision& decision) {
  if (call.request && world_is_up()) return true;
  leave_to_mpi(decision, call.request ? Reason::no_world : Reason::arguments);
  return false;
}

// Whether the communicator is set up and may serve the call; else tells why not.
bool admit(const Entry& entry, const Call& call, Decision& decision) {
  const auto hand_down = [&](Reason reason, bool counts) {
    leave_to_mpi(decision, reason);
    decision.counts = counts;
    return false;
  };
  if (entry.nested()) return hand_down(Reason::nested, false);
  if (call.comm == MPI_COMM_NULL) return hand_down(Reason::arguments, false);
  // A call that succeeds all the same is of a program with sessions only.
  if (!mpi_is_up()) return hand_down(Reason::not_ready, true);
  Communicator* const c = decision.communicator = find_communicator(call.comm);
  const bool counts = !c || c->state == State::counting;
  // Such a call counts like any other: what is left out is one of the things to be agreed on.
  if (!collective_is_on(call.collective())) return hand_down(Reason::left_out, counts);
  if (!c) return hand_down(Reason::first_calls, counts);
  if (c->state < State::alone) return hand_down(c->reason, counts);
  return !call.is_deferred() || may_outlive_call(call, decision);
}

bool is_local(const Communicator& c, std::size_t bytes) {
  return c.state == State::alone || bytes == 0;
}

bool root_exists(const Call& call, const Communicator& c) {
  return call.root >= 0 && call.root < c.size;
}

// Which algorithm, and whether the ranks can carry it out.
void choose(const Call& call, Decision& decision) {
  const Communicator& c = *decision.communicator;
  decision.choice = c.choose(call.collective(), decision.bytes);
  if (call.is_deferred() && !c.may_overlap) return leave_to_mpi(decision, Reason::no_progress);
  if (decision.choice.algorithm == Algorithm::native) return leave_to_mpi(decision, Reason::rules);
  decision.way = Way::serve;
}

void decide_reduction(const Call& call, Decision& decision) {
  const Data& data = call.receive;
  decision.reduction = find_reduction(data.type, call.op, decision.reason);
  if (!decision.reduction) [[unlikely]] {
    // A function of the program's is called in the thread that called, and by nobody else.
    const bool users = call.op != MPI_OP_NULL && !find_op(call.op);
    if (users && !call.is_deferred()) decide_user_reduction(call, decision);
    return;
  }
  if (!judge_buffers(call, *decision.communicator)) return;
  decision.bytes = static_cast<std::size_t>(data.count) * decision.reduction->type.extent;
  decision.way = Way::local;
  if (!is_local(*decision.communicator, decision.bytes)) choose(call, decision);
}

// MPI_Pack counts bytes in an int: a larger element can be served only where it lies packed. How a
// rank describes the message is its own affair, so for messages of that size the ranks agree; and a
// nonblocking call, which may not wait for that, is the MPI's.
bool all_can_pack(const Call& call, const Decision& decision, std::size_t element) {
  if (decision.bytes <= INT_MAX) return true;
  if (call.kind.form == Form::nonblocking) return false;
  return agree(*decision.communicator, element <= INT_MAX || lies_packed(call.receive.type));
}

// By the total of packed bytes alone, which all ranks share: their types may differ as long as the
// signatures are the same.
void decide_bcast(const Call& call, Decision& decision) {
  const Data& data = call.receive;
  decision.error = check_type(data.type, call.comm);
  if (decision.error != MPI_SUCCESS) {
    decision.way = Way::refuse;
    return;
  }
  std::size_t element = 0;
  const bool wrong = data.count < 0 || !root_exists(call, *decision.communicator);
  if (wrong || !packed_size(data.type, element)) return;
  decision.bytes = element * static_cast<std::size_t>(data.count);
  decision.way = Way::local;
  if (is_local(*decision.communicator, decision.bytes)) return;
  decision.way = Way::hand_down;
  // A null address is MPI_BOTTOM: fine with a derived type, an error with a predefined one.
  if (!data.address && find_type(data.type)) return;
  choose(call, decision);
  if (decision.way != Way::serve || all_can_pack(call, decision, element)) return;
  leave_to_mpi(decision, Reason::arguments);
}

void decide_barrier(const Call& call, Decision& decision) {
  decision.way = Way::local;
  if (decision.communicator->state != State::alone) choose(call, decision);
}

}  // namespace

bool judge_buffers(const Call& call, const Communicator& c) {
  const bool rooted = call.collective() == Collective::reduce;
  if (call.receive.count < 0 || (rooted && !root_exists(call, c))) return false;
  if (call.receive.count == 0) return true;
  const void* const send = call.send.address;
  if (rooted && c.rank != call.root) return send && send != MPI_IN_PLACE;
  const void* const receive = call.receive.address;
  if (!send || !receive || receive == MPI_IN_PLACE) return false;
  return !kAliasIsError || send != receive;
}

Decision decide(const Entry& entry, const Call& call) {
  Decision decision;
  if (!admit(entry, call, decision)) return decision;
  switch (call.collective()) {
    case Collective::allreduce:
    case Collective::reduce:
      decide_reduction(call, decision);
      break;
    case Collective::bcast:
      decide_bcast(call, decision);
      break;
    case Collective::barrier:
      decide_barrier(call, decision);
      break;
    case Collective::reduce_scatter:
    case Collective::allgather:
      break;  // no rows in calls.def
    case Collective::reduce_local:
      break;  // on no communicator: see reduce_local.cc
  }
  return decision;
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/decide.h"

#include <climits>

#include "interpose/calls/adapt.h"
#include "interpose/calls/blocks.h"
#include "interpose/calls/check.h"
#include "interpose/calls/exchange.h"
#include "interpose/calls/ordered_calls.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/packing.h"
#include "interpose/mpi/world.h"
#include "interpose/process/own_memory.h"
#include "observe/trace.h"
#include "progress/slices.h"

namespace sumac {
namespace {

using Way = Decision::Way;
using State = Communicator::State;

// Returns true if equal send and receive buffers are an error: MPI families differ in this. On the
// root of a reduction they always are an error.
bool alias_is_error() { return family() == Family::mpich; }

// Returns true if wrong buffers and types are an error in a call without data: MPI families differ
// in this, too.
bool errors_without_data() { return family() == Family::openmpi; }

// Decides why a deferred call on a communicator that Sumac serves is the MPI's, if it is.
bool may_outlive_call(const Call& call, Decision& decision) {
  if (static_cast<Progressing>(options.progress) == Progressing::off) {
    leave_to_mpi(decision, Reason::no_progress);
    return false;
  }
  if (call.request && world_is_up()) return true;
  leave_to_mpi(decision, call.request ? Reason::no_world : Reason::arguments);
  return false;
}

// Returns true if the communicator is set up and may serve the call; otherwise sets the reason.
bool admit(const Entry& entry, const Call& call, Decision& decision) {
  const auto hand_down = [&](Reason reason, bool counts) {
    leave_to_mpi(decision, reason);
    decision.counts = counts;
    return false;
  };
  if (entry.nested()) return hand_down(Reason::nested, false);
  Communicator* const c = decision.communicator = find_communicator(call.comm);
  if (!c && call.comm == kMpi.comm_null) return hand_down(Reason::arguments, false);
  // A call that succeeds nevertheless belongs to a program with sessions only.
  if (!c && !mpi_is_up()) return hand_down(Reason::not_ready, true);
  const bool counts = !c || c->state == State::counting;
  // The call counts like any other: which collectives are left out is one of the things agreed on.
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

// Returns the bytes by which an algorithm is chosen: none if ranks have different sizes.
std::size_t shared_bytes(const Call& call, const Decision& decision) {
  return call.collective_info().is_sized ? decision.bytes : 0;
}

// Takes the choice, and decides whether the ranks can carry it out. Nothing stands around a call of
// a class at rest (Decision::around); it is counted if it would have a turn in trials.
void take(const Choice& choice, std::uint16_t& rest, const Call& call, Decision& decision) {
  Communicator& c = *decision.communicator;
  decision.choice = choice;
  if (call.is_deferred() && !c.may_overlap) return leave_to_mpi(decision, Reason::no_progress);
  if (decision.choice.algorithm == Algorithm::native) return leave_to_mpi(decision, Reason::rules);
  decision.way = Way::serve;
  if (rest == 0) [[unlikely]] {
    put_around(call, decision);
  } else {
    rest = static_cast<std::uint16_t>(rest - !call.is_deferred());
  }
}

void choose(const Call& call, Decision& decision) {
  Communicator& c = *decision.communicator;
  const std::size_t bytes = shared_bytes(call, decision);
  take(c.choose(call.collective(), bytes), c.trials.rest_of(call.collective(), bytes), call,
       decision);
}

// Takes the turn of a blocking call in the trials of its communicator, or the choice of another
// call from what they have found.
void take_turn(const Call& call, Decision& decision) {
  Communicator& c = *decision.communicator;
  const bool may_wait = call.kind.form == Form::persistent || ends_together(call);
  if (c.trials.wait_to_agree() && may_wait) agree_on_turns(c);
  if (decision.by_user || !takes_turns(call, decision)) return;
  if (call.is_deferred()) {
    decision.choice = learnt_choice(call, decision);
    return;
  }
  decision.around |= Decision::kTurn;
  decision.turn = next_turn(call, decision);
}

// Each start of a persistent operation tries, or none does (start_tries_direct()), because all
// ranks start it, but not all in the same order. A nonblocking call tries if the last blocking one
// went direct, for ranks do not find out at the same call that it cannot.
bool is_due(const Call& call, Communicator& c, std::size_t bytes) {
  if (call.kind.form == Form::persistent) return false;
  const bool may = call.kind.form == Form::blocking || promotes() ||
                   c.direct_tries->went(call.collective(), bytes);
  return may && c.direct_tries->is_due(call.collective(), bytes);
}

void take_direct_try(const Call& call, Decision& decision) {
  Communicator& c = *decision.communicator;
  const std::size_t bytes = shared_bytes(call, decision);
  decision.direct = c.choose_direct(call.collective(), bytes, decision.choice.algorithm);
  if (decision.direct == Algorithm::native) return;
  decision.around |= Decision::kDirect;
  decision.tries_direct = is_due(call, c, bytes);
}

// Decides a reduction but for its buffers. Returns false if it is none of Sumac's kernels'.
bool decide_new_reduction(const Call& call, Decision& decision) {
  const Data& data = call.receive;
  decision.reduction = find_reduction(data.type, call.op, decision.reason);
  if (!decision.reduction) [[unlikely]] {
    // A function of the program's must be called in the thread that made the call.
    const bool users = call.op != kMpi.op_null && !find_op(call.op);
    if (users && !call.is_deferred()) decide_user_reduction(call, decision);
    return false;
  }
  decision.reason = Reason::arguments;
  if (data.count < 0) return false;
  decision.bytes = static_cast<std::size_t>(data.count) * decision.reduction->type.extent;
  decision.way = Way::local;
  if (!is_local(*decision.communicator, decision.bytes)) choose(call, decision);
  return true;
}

std::size_t slice_if_blocking(const Call& call, const Decision& decision) {
  const bool has_devices = decision.communicator->has_devices && !decision.by_user;
  return has_devices ? slice_bytes(call.collective(), decision.bytes) : 0;
}

bool is_settled(const SettledReduction& settled, const Call& call) {
  const Data& data = call.receive;
  return data.count == settled.count && data.type.bits == settled.type &&
         call.op.bits == settled.op && call.collective() == settled.collective;
}

// Keeps what has been decided of a reduction for the next one like it, if the choice does not
// depend on anything else, and algorithms can take its buffers as they lie.
void settle(const Call& call, const Decision& decision) {
  const Data& data = call.receive;
  const bool lasts = known_reductions.find(data.type.bits, call.op.bits) == decision.reduction;
  if (!lasts || decision.way != Way::serve || decision.reduction->type.has_gaps()) return;
  // A settled call is carried out as a whole, also if the next call like it is of another form.
  if (slice_if_blocking(call, decision) > 0) return;
  Communicator& c = *decision.communicator;
  c.settled = {.count = data.count,
               .type = data.type.bits,
               .op = call.op.bits,
               .collective = call.collective(),
               .choice = decision.choice,
               .bytes = decision.bytes,
               .reduction = decision.reduction,
               .rest = &c.trials.rest_of(call.collective(), shared_bytes(call, decision))};
}

void decide_reduction(const Call& call, Decision& decision) {
  const SettledReduction& settled = decision.communicator->settled;
  if (is_settled(settled, call)) [[likely]] {
    decision.reduction = settled.reduction;
    decision.bytes = settled.bytes;
    decision.plain = true;
    take(settled.choice, *settled.rest, call, decision);
  } else {
    if (!decide_new_reduction(call, decision)) return;
    settle(call, decision);
  }
  if (!judge_buffers(call, *decision.communicator)) [[unlikely]]
    leave_to_mpi(decision, Reason::arguments);
}

// MPI_Pack counts bytes in an int, so a larger element can be served only if it lies packed. Ranks
// may describe the message differently, so they agree for messages of that size; a nonblocking call
// may not wait for that, and so is left to the MPI.
bool all_can_pack(const Call& call, const Decision& decision, bool (*can_pack)(const Call&)) {
  if (decision.bytes <= INT_MAX) return true;
  if (call.kind.form == Form::nonblocking) return false;
  return agree(*decision.communicator, can_pack(call));
}

bool has_small_elements(const Data& data) {
  std::size_t element = 0;
  return packed_size(data.type, element) && element <= INT_MAX;
}

bool can_pack(const Data& data) { return lies_packed(data.type) || has_small_elements(data); }

// Returns true if the MPI refuses the handle as a type, with the MPI's error.
bool refuses(MpiDatatype type, const Call& call, Decision& decision) {
  decision.error = check_type(type, call.comm);
  if (decision.error == kMpiSuccess) return false;
  decision.way = Way::refuse;
  return true;
}

// Decides by the total of packed bytes alone, which all ranks share: their types may differ as long
// as the signatures are the same.
void decide_bcast(const Call& call, Decision& decision) {
  const Data& data = call.receive;
  if (refuses(data.type, call, decision)) return;
  std::size_t element = 0;
  const bool wrong = data.count < 0 || !root_exists(call, *decision.communicator);
  if (wrong || !packed_size(data.type, element)) return;
  decision.bytes = element * static_cast<std::size_t>(data.count);
  decision.way = Way::local;
  if (is_local(*decision.communicator, decision.bytes)) return;
  choose(call, decision);
  // A null address is MPI_BOTTOM, which is right with a derived type and an error with a predefined
  // one.
  if (!data.address && find_type(data.type)) return leave_to_mpi(decision, Reason::arguments);
  const auto can = [](const Call& bcast) { return can_pack(bcast.receive); };
  if (decision.way != Way::serve || all_can_pack(call, decision, can)) return;
  leave_to_mpi(decision, Reason::arguments);
}

// Returns false if a buffer of a reduce-scatter is wrong. `own` is the number of elements of this
// rank's part of the result.
bool judge_scatter_buffers(const Call& call, MpiCount own) {
  const void *send = call.send.address, *receive = call.receive.address;
  if (!send || receive == kMpi.in_place) return false;
  if (!receive && (own > 0 || send == kMpi.in_place)) return false;
  return !alias_is_error() || send != receive;
}

void decide_reduce_scatter(const Call& call, Decision& decision) {
  const Communicator& c = *decision.communicator;
  decision.reduction = find_reduction(call.receive.type, call.op, decision.reason);
  if (!decision.reduction) [[unlikely]]
    return;
  decision.reason = Reason::arguments;
  const Blocks blocks(call, c.size);
  MpiCount elements = 0;
  if (!blocks.total(elements)) return;
  decision.bytes = static_cast<std::size_t>(elements) * decision.reduction->type.extent;
  decision.way = Way::local;
  if (!is_local(c, decision.bytes)) choose(call, decision);
  if (elements > 0 && !judge_scatter_buffers(call, blocks.count(c.rank))) {
    leave_to_mpi(decision, Reason::arguments);
  }
}

// Returns false if a buffer of an all-gather with data is wrong. `own` is the bytes of this rank's
// part.
bool judge_gather_buffers(const Call& call, const Communicator& c, std::size_t own) {
  const Data &send = call.send, &receive = call.receive;
  // A null address is MPI_BOTTOM, which is right with a derived type and an error with a predefined
  // one.
  if (receive.address == kMpi.in_place || (!receive.address && find_type(receive.type)))
    return false;
  if (send.address == kMpi.in_place) return true;
  std::size_t element = 0;
  if (send.count < 0 || !packed_size(send.type, element)) return false;
  if (element * static_cast<std::size_t>(send.count) != own) return false;
  if (own == 0) return true;
  if (!send.address && find_type(send.type)) return false;
  if (!alias_is_error() || send.type != receive.type) return true;
  Call in_place = call;
  in_place.send.address = kMpi.in_place;
  return own_data(in_place, c.rank, c.size).address != send.address;
}

bool can_pack_gathered(const Call& call) {
  const Data &send = call.send, &receive = call.receive;
  // If parts have places of their own, all are packed as one element.
  const bool one_element = info_of(call.kind.function).lists;
  if (!(one_element ? lies_packed(receive.type) : can_pack(receive))) return false;
  return send.address == kMpi.in_place || can_pack(send);
}

// Decides by packed bytes alone, as for broadcasts.
void decide_allgather(const Call& call, Decision& decision) {
  const Communicator& c = *decision.communicator;
  const bool in_place = call.send.address == kMpi.in_place;
  if (refuses(call.receive.type, call, decision)) return;
  if (!in_place && call.send.type == kMpi.datatype_null) return;  // an error, also without data
  if (!in_place && refuses(call.send.type, call, decision)) return;
  const Blocks blocks(call, c.size);
  MpiCount elements = 0;
  if (!blocks.total(elements) || !packed_size(call.receive.type, decision.element)) return;
  decision.bytes = decision.element * static_cast<std::size_t>(elements);
  const std::size_t own = decision.element * static_cast<std::size_t>(blocks.count(c.rank));
  decision.way = Way::local;
  const bool local = is_local(c, decision.bytes);
  if (!local) choose(call, decision);
  if (decision.bytes > 0 && !judge_gather_buffers(call, c, own)) {
    return leave_to_mpi(decision, Reason::arguments);
  }
  if (local) return;
  if (decision.way != Way::serve || all_can_pack(call, decision, can_pack_gathered)) return;
  leave_to_mpi(decision, Reason::arguments);
}

// Adds up the bytes of one side of an all-to-all. Returns false if the MPI should judge.
bool add_up(const Call& call, bool sends, Decision& decision, std::size_t& bytes) {
  const ExchangeSide side(call, sends);
  if (!side.is_given()) return false;
  MpiDatatype known = kMpi.datatype_null;
  const int blocks = side.listed() ? decision.communicator->size : 1;
  for (int r = 0; r < blocks; ++r) {
    const MpiDatatype type = side.type(r);
    const MpiCount count = side.count(r);
    if (count < 0) return false;
    if (count == 0 && call.kind.function == Function::alltoallw &&
        (type != kMpi.datatype_null || !errors_without_data())) {
      continue;
    }
    std::size_t element = 0;
    if ((type != known && refuses(type, call, decision)) || !packed_size(type, element)) {
      return false;
    }
    known = type;
    bytes += element * static_cast<std::size_t>(count);
  }
  if (!side.listed()) bytes *= static_cast<std::size_t>(decision.communicator->size);
  return true;
}

// Returns false if a buffer of an all-to-all is wrong that has data: `sent` or `received` bytes.
bool judge_exchange_buffers(const Call& call, const Communicator& c, std::size_t sent,
                            std::size_t received) {
  const Data &send = call.send, &receive = call.receive;
  if (receive.address == kMpi.in_place) return false;
  const bool in_place = send.address == kMpi.in_place;
  // A null address is MPI_BOTTOM, which is right with a derived type, with places in bytes, and on
  // a rank that has nothing to give or to get there.
  const auto is_missing = [&](const Data& data, std::size_t bytes) {
    return bytes > 0 && !data.address && call.kind.function != Function::alltoallw &&
           find_type(data.type);
  };
  if (is_missing(receive, received) || (!in_place && is_missing(send, sent))) return false;
  if (ExchangeSide(call, true).bytes(c.rank) != ExchangeSide(call, false).bytes(c.rank)) {
    return false;
  }
  const bool alike = send.type == receive.type && send.count == receive.count &&
                     call.send_counts == call.counts && call.send_types == call.types;
  return !alias_is_error() || !alike || send.address != receive.address;
}

bool can_pack_exchanged(const Call& call) {
  return can_pack(call.receive) && (call.send.address == kMpi.in_place || can_pack(call.send));
}

// Decides an MPI_Alltoall by packed bytes. In the other all-to-alls, ranks do not share any number
// of bytes, so the decision does not depend on it.
void decide_exchange(const Call& call, Decision& decision) {
  const Communicator& c = *decision.communicator;
  std::size_t sent = 0, received = 0;
  if (!add_up(call, false, decision, received) || !add_up(call, true, decision, sent)) return;
  decision.bytes = received;
  const bool equal = call.kind.function == Function::alltoall;
  if (equal && sent != received) return;
  if (sent + received > 0 && !judge_exchange_buffers(call, c, sent, received)) return;
  decision.way = Way::local;
  if (c.state == State::alone || (equal && received == 0)) return;
  choose(call, decision);
  if (decision.way != Way::serve || !equal) return;
  if (!all_can_pack(call, decision, can_pack_exchanged)) leave_to_mpi(decision, Reason::arguments);
}

void decide_barrier(const Call& call, Decision& decision) {
  decision.way = Way::local;
  if (decision.communicator->state != State::alone) choose(call, decision);
}

void decide_admitted(const Call& call, Decision& decision) {
  const CollectiveInfo& info = call.collective_info();
  switch (info.arguments) {
    case ArgumentKind::reduction:
      if (info.among == Among::none) break;  // see reduce_local.cc
      info.has_data ? decide_reduction(call, decision) : decide_barrier(call, decision);
      break;
    case ArgumentKind::bcast:
      decide_bcast(call, decision);
      break;
    case ArgumentKind::reduce_scatter:
      decide_reduce_scatter(call, decision);
      break;
    case ArgumentKind::allgather:
      decide_allgather(call, decision);
      break;
    case ArgumentKind::alltoall:
      decide_exchange(call, decision);
      break;
  }
}

}  // namespace

bool judge_buffers(const Call& call, const Communicator& c) {
  const bool rooted = call.collective_info().has_root;
  if (call.receive.count < 0 || (rooted && !root_exists(call, c))) return false;
  const bool receives = call.receives(c.rank);
  const void *const send = call.send.address, *const receive = call.receive.address;
  const bool misplaced = (receives ? receive : send) == kMpi.in_place;
  if (call.receive.count == 0) return !misplaced || !errors_without_data();
  if (!send || misplaced) return false;
  if (!receives) return true;
  return receive && (send != receive || !(rooted || alias_is_error()));
}

void put_around(const Call& call, Decision& decision) {
  Communicator& c = *decision.communicator;
  if (promotes()) tend_own_memory();
  if (results_checked != 0 && takes_check(call, decision)) decision.around |= Decision::kCheck;
  if (decision.way != Decision::Way::serve) return;
  take_turn(call, decision);
  if (call.kind.form == Form::blocking && trace::on()) decision.around |= Decision::kTrace;
  if (!decision.by_user && decision.turn.route != Route::native) take_direct_try(call, decision);
  // Where buffers are promoted, what the program frees is found in one of some hundred calls.
  constexpr std::uint32_t kBetweenLooks = 256;
  const bool always = results_checked != 0 || trace::on();
  c.note_around(call.collective(), shared_bytes(call, decision), always,
                promotes() ? kBetweenLooks : UINT16_MAX);
}

std::size_t slice_of(const Call& call, const Decision& decision) {
  if (decision.way != Decision::Way::serve || call.kind.form == Form::nonblocking) return 0;
  // Persistent operations of a group have slots of their own, but others may begin beside those
  // over levels.
  const Communicator& c = *decision.communicator;
  const bool over_levels = c.levels_for[static_cast<int>(call.collective())] != nullptr;
  if (over_levels && call.kind.form != Form::blocking) return 0;
  return slice_if_blocking(call, decision);
}

Decision decide(const Entry& entry, const Call& call) {
  Decision decision;
  if (admit(entry, call, decision)) decide_admitted(call, decision);
  if (decision.way == Decision::Way::local && results_checked != 0) [[unlikely]]
    put_around(call, decision);
  // A persistent call may still be served, once it has set its communicator up.
  if (options.reproducible && call.kind.form != Form::persistent) [[unlikely]]
    return keep_order(call, decision);
  return decision;
}

}  // namespace sumac

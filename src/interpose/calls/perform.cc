// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/perform.h"

#include "base/clock.h"
#include "interpose/calls/adapt.h"
#include "interpose/calls/call_size.h"
#include "interpose/calls/calls.h"
#include "interpose/calls/check.h"
#include "interpose/calls/direct_memory.h"
#include "interpose/calls/ends_together.h"
#include "interpose/calls/ordered_calls.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

// Adds it to what count_hand_down() has counted.
void count_bytes(const Entry& entry, const Call& call, Decision& decision) {
  if (decision.bytes > 0) return;
  learn_bytes(call, decision);
  const Collective collective = entry.collective();
  if (!decision.communicator) {
    return count_process_hand_down(collective, decision.reason, decision.bytes, 0);
  }
  Stats& stats = decision.communicator->stats;
  stats.handed[static_cast<int>(collective)][static_cast<int>(decision.reason)].bytes +=
      decision.bytes;
}

// Of one rank, or of no data: the result of a reduction is its input.
int reduce_alone(Entry& entry, const Call& call, const Decision& decision) {
  const TypeInfo& type = decision.reduction->type;
  if (decision.bytes > 0 && call.send.address != MPI_IN_PLACE) {
    copy_elements(type, static_cast<std::byte*>(call.receive.address),
                  static_cast<const std::byte*>(call.send.address), decision.bytes / type.extent);
  }
  entry.take_locally(decision.communicator->stats, decision.bytes);
  return MPI_SUCCESS;
}

// Runs a blocking call. Returns the algorithm that served it. What was tried ends with the call:
// the communicator's work also serves calls that try nothing.
Algorithm run_here(Communicator& c, const CallData& data) {
  ChosenCall& call = c.work.call;
  if (!call.direct.wanted()) [[likely]] {
    run(c);
    return call.choice.algorithm;
  }
  prepare_direct(c, call, data, true);
  const std::uint64_t begin = clock_ns();
  run(c);
  note_direct(c, call, clock_ns() - begin);
  const Algorithm way = way_of(call);
  call.direct = DirectTry();
  return way;
}

int run_served(Entry& entry, const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  CallData data;
  data.describe(c.work, call, decision);
  data.load(c.work.call);
  const Algorithm way = data.is_local() ? decision.choice.algorithm : run_here(c, data);
  data.deliver();
  count_served(entry, c.stats, data, way);
  return MPI_SUCCESS;
}

int run_in_mpi(Entry& entry, const Call& call, const Decision& decision, Reason reason) {
  entry.hand_down(decision.communicator->stats, reason, decision.bytes);
  return call.kind.below(call);
}

int run_along(Turn turn, const Choice& other, Entry& entry, const Call& call,
              const Decision& decision) {
  switch (turn.route) {
    case Route::rules:
      break;
    case Route::other: {
      Decision by_other = decision;
      by_other.choice = other;
      return run_served(entry, call, by_other);
    }
    case Route::native:
      return run_in_mpi(entry, call, decision, turn.timed ? Reason::trial : Reason::slower);
  }
  return run_served(entry, call, decision);
}

// A call of a size at which another route than that of the rules may be faster.
int run_in_turn(Entry& entry, const Call& call, const Decision& decision) {
  Choice other;
  const Turn turn = next_turn(call, decision, other);
  if (!turn.timed) return run_along(turn, other, entry, call, decision);
  const std::uint64_t begin = clock_ns();
  const int error = run_along(turn, other, entry, call, decision);
  note_turn(call, decision, turn.route, clock_ns() - begin);
  return error;
}

int run_now(Entry& entry, const Call& call, const Decision& decision) {
  if (decision.communicator->trials.wait_to_agree()) [[unlikely]] {
    if (ends_together(call)) agree_on_turns(*decision.communicator);
  }
  if (decision.by_user) [[unlikely]]
    return run_user_reduction(entry, call, decision);
  if (decision.way == Decision::Way::local && decision.reduction) {
    return reduce_alone(entry, call, decision);
  }
  if (takes_turns(call, decision)) [[unlikely]]
    return run_in_turn(entry, call, decision);
  return run_served(entry, call, decision);
}

// Also by the MPI, to compare.
int run_checked(Entry& entry, const Call& call, const Decision& decision) {
  ResultCheck check(call, decision);
  const int error = run_now(entry, call, decision);
  check.finish();
  return error;
}

Others others_of(const Call& call, int error) {
  if (!ends_together(call)) return Others::may_be_late;
  return error == MPI_SUCCESS ? Others::have_come : Others::will_come;
}

}  // namespace

int (*hand_to_mpi)(const Call& call) = [](const Call& call) { return call.kind.below(call); };

void count_hand_down(Entry& entry, const Decision& decision) {
  if (!decision.communicator) return entry.hand_down(decision.reason, decision.bytes);
  entry.hand_down(decision.communicator->stats, decision.reason, decision.bytes);
}

void learn_bytes(const Call& call, Decision& decision) {
  if (decision.bytes > 0 || !mpi_is_up()) return;
  int inter = 0, ranks = 0;
  if (has_parts(call.kind.function)) {
    mpi.Comm_test_inter(call.comm, &inter);
    if (!inter) mpi.Comm_size(call.comm, &ranks);
  }
  decision.bytes = size_of(call, ranks).bytes;
}

void count_served(CallRecord& record, Stats& stats, const CallData& data, Algorithm algorithm) {
  if (data.is_local()) return record.take_locally(stats, data.bytes());
  record.take(stats, algorithm, data.bytes());
}

bool is_checked(const Call& call, const Decision& decision) {
  return results_checked != 0 && takes_check(call, decision);
}

bool was_made(int error) {
  if (error == MPI_SUCCESS) return true;
  if (!mpi_is_up()) return false;
  int error_class = MPI_ERR_OTHER;
  mpi.Error_class(error, &error_class);
  switch (error_class) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_OP:
    case MPI_ERR_COMM:
    case MPI_ERR_ROOT:
    case MPI_ERR_ARG:
    case MPI_ERR_REQUEST:
      return false;
    default:
      return true;
  }
}

int hand_down(Entry& entry, const Call& call, Decision& decision) {
  keep_order(call, decision);
  count_hand_down(entry, decision);
  if (decision.way == Decision::Way::refuse) return decision.error;
  const bool in_order = decision.reason == Reason::in_order;
  const int error = in_order ? reduce_in_order(call, decision) : hand_to_mpi(call);
  if (error == MPI_SUCCESS) count_bytes(entry, call, decision);
  if (decision.counts && call.kind.form == Form::blocking && was_made(error)) {
    count_call(call.comm, 1, others_of(call, error));
  }
  return error;
}

int refuse(Entry& entry, const Decision& decision) {
  count_hand_down(entry, decision);
  return decision.error;
}

int perform_now(Entry& entry, const Call& call, Decision& decision) {
  switch (decision.way) {
    case Decision::Way::hand_down:
      return hand_down(entry, call, decision);
    case Decision::Way::refuse:
      return refuse(entry, decision);
    case Decision::Way::local:
    case Decision::Way::serve:
      break;
  }
  if (is_checked(call, decision)) [[unlikely]]
    return run_checked(entry, call, decision);
  return run_now(entry, call, decision);
}

}  // namespace sumac

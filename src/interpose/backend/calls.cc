// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/calls.h"

#include "interpose/backend/mpi_functions.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "tasks/threads.h"
#include "team/hang_doctor.h"

namespace sumac {
namespace {

// Behind nonblocking calls on the same communicator that have not ended.
void run_in_queue(Communicator& c) {
  c.queue.add(c.work, c.ranks(c.work.call.collective), false);
  c.queue.wait_for(c.work, c.wait_policy);
}

}  // namespace

void give_up(const Communicator& c) {
  // An address that another call has left there.
  for (int r = 0; r < c.size && c.levels.empty(); ++r) {
    if (r != c.rank && c.group.differs(r)) return end_for_different_calls(c, r);
  }
  log_here(
      "error[peer-memory]: rank %d could not reach a peer's memory in %s; ending the job "
      "(SUMAC_CMA=off does without; or other ranks called something else)",
      c.rank, c.doing);
  end_job(c.comm);
}

Admission admit(Entry& entry, MPI_Comm comm) {
  if (entry.nested()) {
    entry.hand_down(Reason::nested);
    return {};
  }
  if (comm == MPI_COMM_NULL) {
    entry.hand_down(Reason::arguments);
    return {};
  }
  if (!mpi_is_up()) {
    // A call that succeeds all the same is of a program with sessions only.
    entry.hand_down(Reason::not_ready);
    return {nullptr, true};
  }
  Communicator* communicator = find_communicator(comm);
  const bool counts = !communicator || communicator->state == Communicator::State::counting;
  // Such a call counts like any other: what is left out is one of the things to be agreed on.
  if (!collective_is_on(entry.collective())) {
    entry.hand_down(Reason::left_out);
    return {nullptr, counts};
  }
  if (!communicator) {
    entry.hand_down(Reason::first_calls);
    return {nullptr, counts};
  }
  if (communicator->state < Communicator::State::alone) {
    entry.hand_down(communicator->stats, communicator->reason, 0);
    return {nullptr, counts};
  }
  return {communicator, false};
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
      return false;
    default:
      return true;
  }
}

void run(Communicator& c) {
  const LevelsCall& call = c.work.call;
  const trace::Operation traced(name_of(call.collective), call.bytes(), c.trace_group, c.traced);
  c.doing = name_of(call.collective);
  const UseThreads threads(true);
  if (c.queue.empty()) [[likely]] {
    c.work.run(c.ranks(call.collective), c.wait_policy);
  } else {
    run_in_queue(c);
  }
  if (c.work.failed()) give_up(c);
}

}  // namespace sumac

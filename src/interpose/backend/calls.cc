// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/calls.h"

#include <utility>

#include "interpose/backend/messages.h"
#include "interpose/backend/mpi_functions.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "planner/start.h"

namespace sumac {
namespace {

// A peer's memory that could be reached at set-up no longer can: the result is lost, and the other
// ranks do not know. Nothing but ending the job is honest.
void give_up(const Communicator& c) {
  log_here(
      "error[peer-memory]: rank %d could not reach a peer's memory in %s; ending the job "
      "(SUMAC_CMA=off does without)",
      c.rank, c.doing);
  mpi.Abort(c.comm, 1);
}

// Scratch for the time of one operation, when the algorithm needs it.
class Peers {
 public:
  Peers(Communicator& c, Algorithm algorithm) : peers_(c.peers) {
    if (info_of(algorithm).needs != Needs::single_copy) return;
    peers_ = {c.attach.get(), borrow_scratch(), kScratchBytes, &c.failed};
  }
  ~Peers() {
    if (peers_.scratch) return_scratch(std::exchange(peers_.scratch, nullptr));
  }
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

 private:
  SingleCopy& peers_;
};

}  // namespace

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
    entry.hand_down(Reason::not_ready);
    return {};
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

void run_reduction(Communicator& c, Collective collective, const Choice& choice, MPI_Datatype type,
                   MPI_Op op) {
  const Algorithm algorithm = choice.algorithm;
  const trace::Operation traced(name_of(collective), c.reduce_args.bytes(), c.trace_group,
                                c.traced);
  if (LevelsRun* levels = c.levels_for[static_cast<int>(collective)]) {
    c.doing = name_of(collective);
    if (auto* messages = static_cast<MpiMessages*>(levels->messages())) {
      messages->set_operation(type, op);
    }
    if (collective == Collective::reduce) {
      levels->reduce(c.reduce_args, choice, c.wait_policy);
    } else {
      levels->allreduce(c.reduce_args, choice, c.wait_policy);
    }
    if (levels->failed()) give_up(c);
    return;
  }
  if (algorithm == Algorithm::allreduce_flat_lines) {
    c.doing = name_of(Collective::allreduce);
    return allreduce::flat_lines_directly(c.strand, c.group, c.reduce_args, c.wait_policy);
  }
  const Peers scratch(c, algorithm);
  c.doing = name_of(collective);
  c.strand.run(start_reduction(algorithm, c.strand, c.group, c.reduce_args, c.peers),
               c.wait_policy);
  if (c.failed) give_up(c);
}

void run_bcast(Communicator& c, const Choice& choice) {
  const Algorithm algorithm = choice.algorithm;
  const trace::Operation traced(name_of(Collective::bcast), c.bcast_args.bytes, c.trace_group,
                                c.traced);
  c.doing = name_of(Collective::bcast);
  if (LevelsRun* levels = c.levels_for[static_cast<int>(Collective::bcast)]) {
    levels->bcast(c.bcast_args, choice, c.wait_policy);
    if (levels->failed()) give_up(c);
    return;
  }
  const Peers scratch(c, algorithm);
  c.strand.run(start_bcast(algorithm, c.strand, c.group, c.bcast_args, c.peers), c.wait_policy);
  if (c.failed) give_up(c);
}

}  // namespace sumac

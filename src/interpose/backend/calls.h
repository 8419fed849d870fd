// SPDX-License-Identifier: BSD-3-Clause
// The functions the back end puts in front of the MPI's own, and what they share.
#pragma once

#include <mpi.h>

#include "interpose/backend/communicator.h"
#include "interpose/backend/process.h"
#include "interpose/backend/timed.h"
#include "interpose/stub/stub.h"

namespace sumac {

void redirect_allreduce(const sumac_stub& stub);
void redirect_reduce(const sumac_stub& stub);
void redirect_bcast(const sumac_stub& stub);
void redirect_barrier(const sumac_stub& stub);
void redirect_reduce_local(const sumac_stub& stub);
// What MPI_Reduce_local has found out of handles, which mean nothing once MPI is finalised.
void forget_known_pairs();
void redirect_nonblocking(const sumac_stub& stub);
void redirect_persistent(const sumac_stub& stub);
void redirect_completion(const sumac_stub& stub);
void redirect_life_cycle(const sumac_stub& stub);
void redirect_operations(const sumac_stub& stub);
void redirect_info(const sumac_stub& stub);

// Decides whether Sumac serves the call: the communicator that does, or null when `native` must be
// called. In that case the hand-down is counted; and `counts` tells that the call is one of those
// after which the communicator is set up.
struct Admission {
  Communicator* communicator = nullptr;
  bool counts = false;
};
Admission admit(Entry& entry, MPI_Comm comm);

// Whether a call that returned `error` was made, together with the other ranks' calls. One whose
// arguments were refused was not; one that failed later (MPI_ERR_TRUNCATE) was, and counts, lest
// this rank counts otherwise than those on which it succeeded.
bool was_made(int error);

// Hands the call down: `native` is the MPI's own function with the call's arguments. `all_entered`:
// it ends on no rank before all have made it.
template <class Native>
int pass(const Admission& admission, MPI_Comm comm, Native native, bool all_entered = false) {
  const int error = native();
  const bool succeeded = error == MPI_SUCCESS;
  if (admission.counts && was_made(error)) count_call(comm, 1, succeeded && all_entered);
  return error;
}

// The MPI families differ in whether equal send and receive buffers are an error or go through.
inline constexpr bool kAliasIsError = kFamily == Family::mpich;

// A peer's memory that could be reached at set-up no longer can: the result is lost, and the other
// ranks do not know. Nothing but ending the job is honest.
void give_up(const Communicator& communicator);

// Runs what `work` of a communicator that is `together` describes.
void run(Communicator& communicator);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This header decides who serves a call, and how: once, for every form of every collective, as a
// value that nobody changes. It does not touch the program's data. Everything that all ranks must
// count alike is counted here, from values that they share, before it looks at anything that may be
// wrong on one rank alone.
#pragma once

#include "interpose/mpi/call.h"
#include "interpose/mpi/known_reductions.h"
#include "interpose/process/communicator.h"
#include "interpose/process/entry.h"
#include "team/trials.h"

namespace sumac {

struct Decision {
  enum class Way : std::uint8_t {
    hand_down,  // hand the call to the MPI, for `reason`
    refuse,     // return `error`, of which the MPI has told the program's error handler
    local,      // serve without communication: there is one rank, or no data
    serve,      // serve by the ranks together
  };

  Way way = Way::hand_down;
  Reason reason = Reason::arguments;
  bool counts = false;   // if handed down, the call is one of those after which Sumac may be set up
  bool by_user = false;  // the call is a reduction by a function of the program's
  bool plain = false;    // it is a reduction whose buffers algorithms take as they lie
  int error = kMpiSuccess;
  Communicator* communicator = nullptr;  // null if it is not known
  Choice choice;
  std::size_t bytes = 0;    // packed bytes of the whole message
  std::size_t element = 0;  // packed bytes of an element of an all-gather's result
  const KnownReduction* reduction = nullptr;  // null if `by_user`

  // These bits name what stands around a call that is served, in the order of perform.cc. Most
  // calls have none of it.
  static constexpr std::uint8_t kCheck = 1;    // its result is compared with the MPI's
  static constexpr std::uint8_t kTurn = 2;     // `turn`, a trial's, says how it goes
  static constexpr std::uint8_t kTrace = 4;    // it is traced
  static constexpr std::uint8_t kUser = 8;     // a function of the program's folds
  static constexpr std::uint8_t kDirect = 16;  // it may go by the algorithm `direct`
  std::uint8_t around = 0;
  Turn turn;
  bool tries_direct = false;  // it is this call's turn to try
  Algorithm direct = Algorithm::native;

  bool is_served() const { return way >= Way::local; }
};

// Decides from what all ranks share, except for arguments that are wrong on this rank. May wait for
// other ranks if the call may. Must be called once for a call.
Decision decide(const Entry& entry, const Call& call);

inline void leave_to_mpi(Decision& decision, Reason reason) {
  decision.way = Decision::Way::hand_down;
  decision.reason = reason;
}

// Judges a reduction apart from its type and operation. Returns false for calls that the MPI should
// judge.
bool judge_buffers(const Call& call, const Communicator& communicator);

// Completes the decision on a reduction by the program's function.
void decide_user_reduction(const Call& call, Decision& decision);

// Completes the decision on a call that will be served: settles what stands around it, and counts
// the call.
void put_around(const Call& call, Decision& decision);

// This header says which calls may wait for all ranks. The standard lets most collectives return
// early: the root of a broadcast or a rank that gives its data to a reduction need not wait for
// anybody, and a program may go on to send what another rank waits for before it makes the same
// call. So everything that needs all ranks (set-up, agreements) happens only in calls from which no
// rank can return early.

// Returns true if the call ends on no rank before all have made it, since each rank gets data from
// each: a barrier, or an all-reduce, all-gather, all-to-all or reduce-scatter in which no rank's
// part is empty. It judges by what all ranks share, so it is the same on all of them; it returns
// false if they share too little, as in an alltoallv, and for deferred calls, which never wait. The
// arguments must be those of a call that the MPI has accepted.
bool ends_together(const Call& call);

// Returns how many bytes of a call are carried out at once where a rank may have its data in a
// GPU's memory, or 0 for all. It is the same on all ranks.
std::size_t slice_of(const Call& call, const Decision& decision);

// Returns what a call that the MPI has served tells of the other ranks. `error` is what the MPI
// returned.
Others others_of(const Call& call, int error);

// Returns how many calls of few bytes a call that tells this of the others weighs as much as
// (count_call()).
std::uint64_t weight_of(const Call& call, Others others);

}  // namespace sumac

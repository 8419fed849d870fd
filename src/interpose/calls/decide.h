// SPDX-License-Identifier: BSD-3-Clause
// Who serves a call, and how: decided once, for every form of every collective, as a value that
// nobody changes. Does not touch the program's data. Whatever all ranks must count alike is counted
// here, from values that they share, before anything is looked at that one rank alone may have
// wrong.
#pragma once

#include "interpose/mpi/call.h"
#include "interpose/mpi/known_reductions.h"
#include "interpose/process/communicator.h"
#include "interpose/process/entry.h"
#include "team/trials.h"

namespace sumac {

struct Decision {
  enum class Way : std::uint8_t {
    hand_down,  // to the MPI, for `reason`
    refuse,     // return `error`, of which the MPI has told the program's error handler
    local,      // no communication: one rank, or no data
    serve,      // by the ranks together
  };

  Way way = Way::hand_down;
  Reason reason = Reason::arguments;
  bool counts = false;   // handed down, it is one of the calls after which Sumac may be set up
  bool by_user = false;  // a reduction by a function of the program's
  int error = kMpiSuccess;
  Communicator* communicator = nullptr;  // null where the call belongs to none that is known
  Choice choice;
  std::size_t bytes = 0;                      // packed, of the whole message
  std::size_t element = 0;                    // packed, of an all-gather's result
  const KnownReduction* reduction = nullptr;  // none where `by_user`

  // What stands around a call that is served, in the order of perform.cc: bits. Most calls have
  // none of it.
  static constexpr std::uint8_t kCheck = 1;   // its result is compared with the MPI's
  static constexpr std::uint8_t kUser = 2;    // a function of the program's folds
  static constexpr std::uint8_t kTurn = 4;    // `turn`, a trial's, says how it goes
  static constexpr std::uint8_t kDirect = 8;  // it may go by the algorithm `direct`
  std::uint8_t around = 0;
  Turn turn;
  bool tries_direct = false;  // it is this call's turn to try
  Algorithm direct = Algorithm::native;

  bool is_served() const { return way >= Way::local; }
};

// A function of what all ranks share, except for arguments that are wrong on this rank. May wait
// for other ranks where the call may. To be called once for a call.
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

// Completes the decision on a call that is to be served: settles what stands around it, and counts
// the call.
void put_around(const Call& call, Decision& decision);

}  // namespace sumac

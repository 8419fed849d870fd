// SPDX-License-Identifier: BSD-3-Clause
// With SUMAC_PROFILE, Sumac watches the program's calls, hands all of them to the MPI, and writes a
// file for each rank that tells which calls were made from where, and how long they took. See
// docs/calls.md.
//
// There are sums for each kind of call (kinds.h); calls are kept one by one up to
// SUMAC_PROFILE_CALLS of them. Ranks find the same call by its communicator and its number there. A
// communicator's name across ranks is the one that they agree on after two blocking calls, as they
// do without a profile. If they do not come that far, the name is its members and how many
// communicators of the same members this rank has used before.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/calls/call_text.h"
#include "interpose/mpi/call.h"
#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_types.h"
#include "interpose/process/communicator.h"
#include "interpose/stub/stub.h"
#include "interpose/watch/kinds.h"
#include "observe/recording_file.h"

namespace sumac {

// Reads the option. Must be called once. Options by which Sumac would take calls have no effect
// then.
void read_profile_option();
// Returns true if calls are profiled. This is decided before anything is redirected.
bool calls_are_profiled();

// Returns "sum", "user", or an empty text for MPI_OP_NULL.
const char* name_of_op(MpiOp op);

// Deferred calls, and starts of persistent operations, are added when they have ended.
struct EndedCall : ProfiledCall {
  std::uint64_t bytes = 0;
};

class Profile {
 public:
  // These must be called after MPI_Init, and before MPI_Finalize.
  void begin();
  void end();
  // Writes what the rank has noted until now, since it may not come to end(). It writes nothing
  // while a thread is within the profile: the process may be ending in a signal handler, which has
  // interrupted that thread and must not wait for it.
  void write_early();

  // Notes a call that the MPI has taken, from `began` to `ended` (ns). The call returned to `site`.
  // All ranks of the communicator come here: they may agree on its name.
  void note(const Call& call, const void* site, std::uint64_t began, std::uint64_t ended);
  // Does the same for a call of another collective; everything but its size and place is in `key`.
  // `request` is that of a call that is not blocking.
  void note(CallKindKey key, Form form, MpiComm comm, const CallSize& size, RequestPointer request,
            const void* site, std::uint64_t began, std::uint64_t ended);
  // Notes a call that concerns this rank alone, for which there are only sums.
  void note_alone(CallKindKey key, MpiDatatype type, MpiCount count, const void* site,
                  std::uint64_t ns);
  void add(const EndedCall& call);

 private:
  // This is a communicator.
  struct Member {
    int number = -1, rank = 0, size = 0;
    bool inter = false, agreed = false;
    std::uint64_t members = 0, nth = 0;
    std::uint32_t calls = 0;
  };

  Communicator* find(MpiComm comm);
  // Returns the communicator with one call more; a default member if it is not known.
  Member next_call_of(const Communicator* communicator);
  void note_of(const Member& member, CallKindKey key, Form form, const CallSize& size,
               RequestPointer request, const void* site, std::uint64_t began, std::uint64_t ended);
  void come_to_know(Communicator& communicator);
  void agree(const Call& call, Communicator& communicator);
  void define(const Member& member, const Communicator& communicator);
  void compare_clocks(MpiComm comm);
  std::uint32_t number_of(CallKindKey key, const void* site);
  void add_locked(const EndedCall& call);
  void write();

  std::mutex mutex_;  // never held across a call of the MPI that may wait
  RecordingFile file_;
  CallKinds kinds_;
  CallSites sites_;
  std::vector<Member> members_;
  std::unordered_map<std::uint64_t, std::uint64_t> same_members_;
  std::uint64_t kept_ = 0;
  // True if all ranks of the job have this option, and compare their clocks at the end. It is the
  // same on all ranks.
  bool compares_clocks_ = false;
};

// The profile is never destroyed.
Profile& profile();

// These functions stand before the MPI's if SUMAC_PROFILE watches them: each hands its call down,
// and notes it. No lock is held and nothing is marked while the MPI has the call, beside what Entry
// marks, because an error handler may leave it by an exception or longjmp. The program's call
// returns to `site`.
int serve_profiled(const Call& call, const void* site);

// Puts functions before MPI_Pack and MPI_Unpack.
void redirect_profiled_packing(const sumac_stub& stub);

// For requests of collectives, a profile says how long the program was in the calls that completed
// them. The time of a call that completes several is shared equally between those that are
// collectives.
//
// Notes the request that the MPI has made for a call. For a persistent operation, `made` says what
// its starts are like.
void hold_request(MpiRequest request, const EndedCall& made, bool persistent);

// This measures how the clocks of several hosts differ.
struct ClockOffset {
  std::uint64_t at = 0;      // time of the measurement by this rank's CLOCK_MONOTONIC, ns
  std::int64_t offset = 0;   // added to this rank's clock, it gives rank 0's
  std::uint64_t within = 0;  // the offset's error is at most this
};

// Collective over the communicator. Ranks of rank 0's host share its clock. On each other host the
// lowest rank sends messages to and fro: half of the shortest way there and back bounds the error.
// The other ranks of a host are given none (`within` is UINT64_MAX), because the lowest rank's is
// theirs.
ClockOffset measure_clock_offset(MpiComm comm);

}  // namespace sumac

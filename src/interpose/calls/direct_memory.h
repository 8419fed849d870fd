// SPDX-License-Identifier: BSD-3-Clause
// Some calls may go direct: this header has what the rank does with its buffers before such a call,
// and what it learns afterwards.
#pragma once

#include "interpose/calls/call_data.h"

namespace sumac {

// Notes that the program uses its buffers, and promotes those for which that pays. Returns what the
// call tries first: `direct`, if it `tries`. If that is wanted, end_use_of_own_memory() must be
// called at the call's end; note_direct() does so.
DirectTry prepare_direct(Communicator& communicator, const ChosenCall& call, const CallData& data,
                         Algorithm direct, bool tries);

// Agrees with all ranks whether the starts of a persistent operation try to go direct: if buffers
// are promoted, or if the memory of all ranks' buffers is shared now. Groups of a hierarchy may
// differ in what they would try.
bool start_tries_direct(const Call& call, const Decision& decision);

// Returns the algorithm that served a call, after its end.
inline Algorithm way_of(const ChosenCall& call, const DirectTry& direct) {
  return direct.went ? direct.algorithm : call.choice.algorithm;
}

// Must be called after a blocking call that may have tried, and took so long.
void note_direct(Communicator& communicator, const ChosenCall& call, const DirectTry& direct,
                 std::uint64_t ns);

}  // namespace sumac

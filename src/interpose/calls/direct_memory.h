// SPDX-License-Identifier: BSD-3-Clause
// Calls that may go direct: what the rank does with its buffers before such a call, and what is
// learnt from it afterwards.
#pragma once

#include "interpose/calls/call_data.h"

namespace sumac {

// Notes that the program uses its buffers, promotes those for which that pays, and settles whether
// the call tries to go direct. `in_order`: all ranks begin their calls in the order of this one.
void prepare_direct(Communicator& communicator, ChosenCall& call, const CallData& data,
                    bool in_order);

// The algorithm that served a call, after its end.
inline Algorithm way_of(const ChosenCall& call) {
  return call.direct.went ? call.direct.algorithm : call.choice.algorithm;
}

// After a blocking call that may have tried, and took so long.
void note_direct(Communicator& communicator, const ChosenCall& call, std::uint64_t ns);

}  // namespace sumac

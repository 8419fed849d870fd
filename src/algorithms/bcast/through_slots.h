// SPDX-License-Identifier: BSD-3-Clause
// Other broadcasts may turn to this one, which goes through the root's slots. See slots.cc.
#pragma once

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "strands/task.h"
#include "transport/shm/group.h"

namespace sumac::bcast {

// Takes the positions that the message needs. Returns the first.
std::uint64_t take_slots(ShmGroup& group, const BcastArguments& args);

// Brings the message from the root to all, at positions from `first` on.
Task go_through_slots(Strand& strand, ShmGroup& group, const BcastArguments& args,
                      std::uint64_t first);

}  // namespace sumac::bcast

// SPDX-License-Identifier: BSD-3-Clause
// A broadcast through the root's slots, for algorithms that may turn to it. See slots.cc.
#pragma once

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "strands/task.h"
#include "transport/shm/group.h"

namespace sumac::bcast {

// As many positions as slot_chunks(args.bytes, group.slot_bytes()) has chunks, from `first` on.
Task go_through_slots(Strand& strand, ShmGroup& group, const BcastArguments& args,
                      std::uint64_t first);

}  // namespace sumac::bcast

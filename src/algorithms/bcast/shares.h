// SPDX-License-Identifier: BSD-3-Clause
// These are parts of broadcasts that several algorithms use.
#pragma once

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "algorithms/single_copy.h"
#include "strands/task.h"
#include "transport/shm/group.h"

namespace sumac::bcast {

// The ranks share the copies of a broadcast from buffer to buffer: every rank has a share of the
// message for itself, cut into pieces. The root stores some of them and the rank fetches the
// others.
//
// Copies the range `part` of the message, whose buffers have been shown at `position`. The root's
// buffer is contiguous; another rank whose buffer has gaps shows no output. The task ends when
// others no longer use this rank's buffer.
Task copy_shares(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers, std::uint64_t position, Part part);

// Other broadcasts may turn to the one through the root's slots (slots.cc): this takes the
// positions that the message needs, and returns the first.
std::uint64_t take_slots(ShmGroup& group, const BcastArguments& args);

// Brings the message from the root to all, at positions from `first` on.
Task go_through_slots(Strand& strand, ShmGroup& group, const BcastArguments& args,
                      std::uint64_t first);

}  // namespace sumac::bcast

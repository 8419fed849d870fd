// SPDX-License-Identifier: BSD-3-Clause
// The ranks share the copies of a broadcast from buffer to buffer: every rank has a share of the
// message for itself, cut into pieces. The root stores some of them and the rank fetches the
// others.
#pragma once

#include "algorithms/single_copy.h"

namespace sumac::bcast {

// Copies the range `part` of the message, whose buffers have been shown at `position`. The root's
// buffer is contiguous; another rank whose buffer has gaps shows no output. The task ends when
// others no longer use this rank's buffer.
Task copy_shares(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers, std::uint64_t position, Part part);

}  // namespace sumac::bcast

// SPDX-License-Identifier: BSD-3-Clause
// The copies of a broadcast from buffer to buffer, shared by the ranks: every rank has a share of
// the message for itself, cut into pieces, of which the root stores some and the rank fetches the
// others.
#pragma once

#include "algorithms/single_copy.h"

namespace sumac::bcast {

// Copies the range `part` of the message, whose buffers have been shown at `position`: the root's
// lies contiguous, others show no output where theirs has gaps. Ends when this rank's buffer is no
// longer used by others.
Task copy_shares(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers, std::uint64_t position, Part part);

}  // namespace sumac::bcast

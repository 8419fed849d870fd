// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local: inout = in op inout, in this process alone.
#pragma once

#include "interpose/calls/call.h"
#include "interpose/calls/known_reductions.h"
#include "interpose/process/process.h"

namespace sumac {

// inout[i] = in[i] op inout[i], by several threads where they may be used and are worth it.
void reduce_in_place(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                     std::size_t extent, bool may_use_threads);

// Serves the call, or hands it down.
int reduce_local(const Call& call);

}  // namespace sumac

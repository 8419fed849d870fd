// SPDX-License-Identifier: BSD-3-Clause
// This header says which calls may wait for all ranks. The standard lets most collectives return
// early: the root of a broadcast or a rank that gives its data to a reduction need not wait for
// anybody, and a program may go on to send what another rank waits for before it makes the same
// call. So everything that needs all ranks (set-up, agreements) happens only in calls from which no
// rank can return early.
#pragma once

#include "interpose/mpi/call.h"

namespace sumac {

// Returns true if the call ends on no rank before all have made it, since each rank gets data from
// each: a barrier, or an all-reduce, all-gather, all-to-all or reduce-scatter in which no rank's
// part is empty. It judges by what all ranks share, so it is the same on all of them; it returns
// false if they share too little, as in an alltoallv, and for deferred calls, which never wait. The
// arguments must be those of a call that the MPI has accepted.
bool ends_together(const Call& call);

}  // namespace sumac

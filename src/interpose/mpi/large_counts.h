// SPDX-License-Identifier: BSD-3-Clause
// These functions serve calls of more elements than an int can count, if the MPI has int counts
// only.
#pragma once

#include "interpose/mpi/call.h"

namespace sumac {

// Serves a reduction part by part; `part` is the MPI's function with int counts.
int in_parts(const Call& reduction, int (*part)(const Call&));
// Serves a broadcast as one element of a type made for it.
int as_one_element(const Call& bcast, int (*whole)(const Call&));
// Refuses a call that without Sumac only an MPI with large counts could serve.
int refuse_count(const Call& call);

}  // namespace sumac

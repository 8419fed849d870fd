// SPDX-License-Identifier: BSD-3-Clause
// These functions stand before the MPI's if SUMAC_PROFILE watches them: each hands its call down,
// and notes it. No lock is held and nothing is marked while the MPI has the call, beside what Entry
// marks, because an error handler may leave it by an exception or longjmp.
#pragma once

#include "interpose/mpi/call.h"
#include "interpose/stub/stub.h"

namespace sumac {

// The program's call returns to `site`.
int serve_profiled(const Call& call, const void* site);

// Puts functions before MPI_Pack and MPI_Unpack.
void redirect_profiled_packing(const sumac_stub& stub);

}  // namespace sumac

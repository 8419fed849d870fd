// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local in one process: every operation on every type, Sumac's and the MPI's own,
// compared with memcpy of the same bytes and, for small vectors, with a loop as a program might
// have it.
//
// All calls use the same buffers, so vectors smaller than the cache are in it and larger ones are
// not. The data are such that repeated reductions do not change them, so all calls see the same
// values.
#pragma once

#include <vector>

#include "options.h"
#include "results.h"
#include "world.h"

namespace sumac::bench {

// Returns the number of wrong elements. Throws Unavailable when there is nothing to measure.
long run_local(const Options& options, const World& world);

// MPI_Pack and MPI_Unpack of derived datatypes in one process, Sumac's and the MPI's own, compared
// with memcpy of the same bytes.
//
// All calls of a cell use the same buffers, so data smaller than the cache are in it and larger
// ones are not.

// Both calls on all layouts, at all sizes that hold a block of them. `left_out` gets those whose
// data lie too far apart for a benchmark's memory.
std::vector<PackCell> pack_cells(const Options& options, std::vector<PackCell>* left_out = nullptr);

// Returns the number of wrong bytes.
long run_pack(const Options& options, const World& world);

}  // namespace sumac::bench

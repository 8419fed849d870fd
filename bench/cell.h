// SPDX-License-Identifier: BSD-3-Clause
// The contenders of a call of one process.
#pragma once

#include "options.h"
#include "results.h"
#include "turns.h"

namespace sumac::bench {

struct LocalContenders {
  Repeat memcpy, native, sumac, loop;
};

// Times memcpy and those others that have a place in `cell`.
void time_cell(const LocalContenders& contenders, const Options& options, Cell& cell);

// Copies `bytes`, as often as it is asked.
Repeat repeat_memcpy(void* to, const void* from, std::size_t bytes);

}  // namespace sumac::bench

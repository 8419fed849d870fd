// SPDX-License-Identifier: BSD-3-Clause
// This header detects a program under another MPI's launcher: it runs as several jobs of one rank,
// and neither MPI says a word.
#pragma once

#include "base/launch.h"
#include "interpose/stub/stub.h"

namespace sumac {

// Returns true if a launcher told this process of others, while MPI_COMM_WORLD, of `size` ranks,
// holds it alone, and nobody can have meant that: the process was not spawned, and no rank has
// started it. `told` is from before MPI_Init, which may change the environment.
//
// Other differences are no mistake: programs with a launcher inside of a launcher have them, and
// ranks that found each other were started right.
bool is_lone_rank(const sumac_launch& told, int size);

// Warns in the log, so once in a job if set_log() was told the launcher's rank.
void warn_of_lone_ranks(const sumac_launch& told, const sumac_stub& stub);

}  // namespace sumac

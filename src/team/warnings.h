// SPDX-License-Identifier: BSD-3-Clause
// Warnings of one rank's own settings, and of settings that differ, once a job. Rank 0 tells its
// own when MPI_Init has returned. Another rank cannot know then whether rank 0 has the same to
// tell, and nothing may wait for others in MPI_Init; so it tells when it first sets a communicator
// up together with rank 0.
#pragma once

#include <cstdint>

#include "team/introduction.h"

namespace sumac {

// Returns the hash for Hello::warnings, or 0 if there are no warnings.
std::uint64_t kept_warnings_hash();

// Each line that rank 0 does not have is printed by the lowest rank that has it. Collective, where
// ranks' warnings differ.
void tell_kept_warnings(Team& team, const Introduction& all);

// Collective: says once in what the options of the odd rank differ from rank 0's.
void explain_difference(Team& team, int odd);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The steps of setting a communicator up, all of them collective.
#pragma once

#include <vector>

#include "interpose/backend/communicator.h"
#include "interpose/backend/hello.h"
#include "interpose/backend/unmet.h"

namespace sumac {

// What worked on this rank; what worked on all is agreed on.
enum Worked : int { kMapped = 1, kAttach = 2, kMessages = 4 };
int agree(const Communicator& c, int worked);

// From here on the communicator's calls go to the MPI.
void hand_down_for_good(Communicator& c, Reason reason);

// Says once which rank's options differ from rank 0's, and how. Collective.
void explain_difference(Communicator& c, const std::vector<Hello>& hellos);

// The hierarchies of the communicator's collectives; none where one flat group does. False, and
// handed down, where it cannot be served so.
bool set_up_levels(Communicator& c, const std::vector<Hello>& hellos, Wishes& wishes);

// Persistent operations leave half of SUMAC_SHM_BUDGET to communicators: what they have had stays
// with their communicator, for the next ones.
inline std::size_t budget_of_own_ranks() { return options.shm_budget / 2; }

// A hierarchy of their own, for one persistent operation, of a communicator that has one for the
// collective; its messages have tags from `first_tag` on. Null, on all ranks, where there is no
// memory for it.
std::unique_ptr<LevelsRun> make_own_levels(Communicator& c, Collective collective, int first_tag);

// Who and where everybody is now.
std::vector<Hello> gather_hellos(const Communicator& c);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This header says if a communicator may be set up at all: set-up talks to every member, and a
// member without Sumac never answers. So each process judges it by what it can see by itself.
#pragma once

#include <string>
#include <vector>

#include "interpose/process/communicator.h"

namespace sumac {

// Finds out who the members are (Team::identity). Returns false, with the reason, if a member
// belongs to another MPI_COMM_WORLD (all members find the same) or runs without Sumac (all members
// of this node find the same; if some are not on this node, the job is ended, because they cannot
// be told). Returns true also if nothing can be found out.
bool members_may_be_served(Communicator& c, Reason& reason);

// Returns the members' ranks in MPI_COMM_WORLD, MPI_UNDEFINED for those of another one; empty if
// there is none. `size` is their number.
std::vector<int> world_ranks(MpiComm comm, int size);

// Returns the members that have not been seen to run Sumac, as a list for messages; empty if all
// have been seen.
std::string not_seen(const Communicator& c);

// Returns true on exactly one of the members of this node that run Sumac: it reports what concerns
// them all. If they cannot see each other, it returns true on every one.
bool speaks_for_node(const Communicator& c);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Whether a communicator may be set up at all: set-up talks to every member, and a member without
// Sumac never answers. So it is judged by what this process can see by itself.
#pragma once

#include <string>
#include <vector>

#include "interpose/process/communicator.h"

namespace sumac {

// Returns false, with the reason, where a member belongs to another MPI_COMM_WORLD (all members
// find the same) or runs without Sumac (all members of this node find the same; where some are not
// on this node, the job is ended, for they cannot be told). Returns true also where nothing can be
// found out.
bool members_may_be_served(const Communicator& c, Reason& reason);

// The members' ranks in MPI_COMM_WORLD, MPI_UNDEFINED for those of another one; empty where there
// is none. `size`: their number.
std::vector<int> world_ranks(MpiComm comm, int size);

// Members that have not been seen to run Sumac, as a list for messages; empty where all have been
// seen.
std::string not_seen(const Communicator& c);

// True on exactly one of the members of this node that run Sumac: it reports what concerns them
// all. True on every one where they cannot see each other.
bool speaks_for_node(const Communicator& c);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Whether a communicator may be set up at all: that talks to every member, and one without Sumac
// never answers. So it is judged from what this process can see by itself.
#pragma once

#include <string>

#include "interpose/backend/communicator.h"

namespace sumac {

// False, and why, where a member is of another MPI_COMM_WORLD (all members find the same) or runs
// without Sumac (all members of this node do; where some are not on it, the job is ended, for they
// cannot be told). True also where nothing can be told.
bool members_may_be_served(const Communicator& c, Reason& reason);

// Members that have not been seen to run Sumac, as a list for messages; empty where all have.
std::string not_seen(const Communicator& c);

// Exactly one of the members of this node that run Sumac says what concerns them all; every one
// does where they cannot see each other.
bool speaks_for_node(const Communicator& c);

}  // namespace sumac

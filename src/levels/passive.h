// SPDX-License-Identifier: BSD-3-Clause
// On this lowest level the members are passive. A member tells once where its buffers are and waits
// until the leader says that all is done. The leader reads the members' inputs chunk by chunk and
// folds them, and writes results into their outputs.
//   Steps     2 for the whole operation, whatever the number of chunks
//   Bytes     the leader moves n for each member, each way, and does all the arithmetic of its
//   group Wins      where ranks share processors: members that are not running delay nobody, and
//   members
//             that wait take no time from ranks that work
//   Needs     access to peers' memory, on the lowest level; members that have all their data
// If a copy is refused to the leader, the member makes it (algorithms/relay.h), chunk by chunk.
#pragma once

#include "levels/stage.h"

namespace sumac {

// Returns true if the members show their buffers in this stage, always on the lane up. A later
// stage of the operation then knows them.
bool shows_buffers(const Operation& operation, const Stage& stage);

// Does the work of a member, for all chunks.
Task be_passive(Strand& strand, Operation& operation, Stage& stage);

// Do the work of the leader before its chunks, for each chunk, and after them.
Task meet_members(Strand& strand, Operation& operation, Stage& stage);
Task serve_members(Strand& strand, Operation& operation, const Stage& stage, std::size_t chunk);
void release_members(Operation& operation, Stage& stage);

}  // namespace sumac

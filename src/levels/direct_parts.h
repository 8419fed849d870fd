// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter and all-gather in place on the lowest level (direct_level.h). Their chunks have
// parts of all ranks, which a rank keeps in memory of its own that others do not see. So only the
// way up is in place.
//   Reduce-scatter  each rank folds its share of a chunk from all members' inputs, and hands it to
//                   the leader through its slot
//   All-gather      the leader copies what it passes on out of its members' inputs, who do nothing
//                   until the data come down
//   Steps           three for the whole operation; one for each chunk of a reduce-scatter
//   Bytes           a member of a reduce-scatter reads n, writes n/p into its slot; a member of an
//                   all-gather reads and writes nothing on the way up
//   Wins            where it wins in one group
//   Needs           inputs of all ranks of the group seen in place by all
#pragma once

#include "levels/stage.h"

namespace sumac {

// Returns true for the stage of such an operation that may be in place.
bool parts_may_be_in_place(const Operation& operation, const Stage& stage);

// Returns what this rank shows to the others, and what it knows of the input of a member.
Buffers shown_parts(const Operation& operation, const Stage& stage);
std::size_t input_bytes(const Operation& operation, const Stage& stage, int member);
Part inside_of_parts(const Operation& operation, const Stage& stage, int member);

// Returns true if the operation goes direct provided that all ranks see all inputs. The answer is
// the same on all ranks of the group.
bool parts_can(const Operation& operation, const Stage& stage);

// Tells all ranks the edges of all inputs, when they have found out that they go direct.
Task share_edges(Strand& strand, Operation& operation, const Stage& stage);

// Does one chunk of the stage.
Task do_parts_in_place(Strand& strand, Operation& operation, Stage& stage, Worker& worker,
                       std::size_t chunk);

}  // namespace sumac

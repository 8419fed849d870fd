// SPDX-License-Identifier: BSD-3-Clause
// The stages of a reduce-scatter and an all-gather over a hierarchy, on chunks of a Spread.
//   Reduce-scatter  groups reduce whole chunks to their leaders; the last level's reduce-scatter
//                   leaves each of its members the piece of the ranks that it stands for, which
//                   goes down to all of them
//   All-gather      all of a group collect its ranks' data; the last level gathers the pieces of
//                   its members, and the whole chunk goes down
// Both begin with a copy of the rank's data into a chunk of its own, in the order of the tree, and
// end with a copy of what is the rank's out of it: ranks of a node need not follow one another.
#pragma once

#include "levels/stage.h"

namespace sumac {

// What the group of a stage works on in a chunk: where it begins in the chunk that a rank keeps,
// and its bytes. Of what is not a broadcast or a reduction, `parts` gets those of the members,
// counted from there.
Part work_of(const Spread& spread, bool gathers, const StagePlan& stage, const LevelGroup& group,
             std::size_t chunk, std::vector<Part>& parts);

// The arguments of a stage's algorithm. `parts` must live as long as they. Nothing is to be done
// where `bytes` are 0.
CallArguments arguments_of_parts(const Operation& operation, const Stage& stage, std::size_t chunk,
                                 std::vector<Part>& parts, std::size_t& bytes);

// Before a rank's first stage of a chunk, and after its last one.
void load_parts(const Operation& operation, std::size_t chunk);
void store_parts(const Operation& operation, std::size_t chunk);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// These are the stages of a reduce-scatter and an all-gather over a hierarchy, on chunks of a
// Spread.
//   Reduce-scatter  groups reduce whole chunks to their leaders; the last level's reduce-scatter
//                   leaves each of its members the piece of the ranks that it stands for, which
//                   goes down to all of them
//   All-gather      all ranks of a group collect its ranks' data; the last level gathers the pieces
//                   of its members, and the whole chunk goes down
// Both begin with a copy of the rank's data into a chunk of its own, in the order of the tree, and
// end with a copy of the rank's result out of it: ranks of a node need not follow one another.
#pragma once

#include "levels/stage.h"

namespace sumac {

// Returns the bytes of a chunk on which the group of a stage works, and where they begin in the
// chunk that a rank keeps. Unless the stage is a broadcast or a reduction, `parts` gets the
// members' parts, counted from there.
Part work_of(const Spread& spread, bool gathers, const StagePlan& stage, const LevelGroup& group,
             std::size_t chunk, std::vector<Part>& parts);

// Returns the arguments of a stage's algorithm. `parts` must live as long as they. There is nothing
// to do if `bytes` is 0.
CallArguments arguments_of_parts(const Operation& operation, const Stage& stage, std::size_t chunk,
                                 std::vector<Part>& parts, std::size_t& bytes);

// Must be called after a stage: moves the piece that a reduce-scatter has left where it was reduced
// to the beginning of the chunk.
void settle_piece(const Stage& stage, const CallArguments& args);

// load_parts() is called before a rank's first stage of a chunk, and store_parts() after its last
// one.
void load_parts(const Operation& operation, std::size_t chunk);
void store_parts(const Operation& operation, std::size_t chunk);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The lowest level can work in place (algorithms/direct.h): data of the node are not copied into
// slots.
//   Idea     the ranks of a group tell once where their buffers are. On the way up, a rank folds
//            its share of each chunk from all members' inputs into the leader's result. On the way
//            down, members copy a chunk out of the leader's buffer as soon as it is there. The work
//            between the nodes goes on meanwhile, as with any other algorithm of the level
//   Steps    two for the whole operation, and one for each chunk each way
//   Bytes    a member folds n/p, reads n(p-1)/p of it from others, and copies n; nothing is stored
//            into slots except the ends of the vectors, and the data for a leader without an output
//   Wins     where it wins in one group. The leader, which also exchanges, copies nothing
//   Needs    inputs of all ranks of the group seen in place by all, and the output of the rank that
//            gets the result, if it has one
// Reduce-scatter and all-gather go up in place in another way (direct_parts.h).
// Each group of the hierarchy finds out for itself whether it can: the chunks are the same.
#pragma once

#include <optional>

#include "algorithms/direct.h"
#include "hierarchy/hierarchy.h"

namespace sumac {

struct Operation;
struct Stage;
struct LevelGroup;
struct ChosenCall;

// This is the state of one operation, as one rank of the group sees it.
struct DirectLevel {
  bool tried = false;            // the operation tries it: the same on all ranks of the group
  bool mapped = false;           // all whole pages of this rank's buffers are mapped
  std::size_t page = kPage;      // page size of the memory of all ranks
  bool went = false;             // result, the same on all ranks of the group: it went direct
  std::size_t meets = 0;         // the stage in which the ranks find out
  Counter known{0};              // 1: the ranks have found out
  Part inside{0, 0};             // whole pages of the vectors in all buffers that others reach into
  std::vector<Buffers> buffers;  // indexed by member
  std::vector<std::byte> edges;  // the members' edges, where parts are in place (direct_parts.h)
  SingleCopy peers;
  std::optional<SharedViews> views;  // places at which this process sees `buffers`

  // Must be called before the operation's strands begin, when its stages are there.
  void begin(const DirectTry& attempt, const Operation& operation);
};

// Carries out a stage of chunks, in place if it may be and the group finds that it can. After its
// last chunk the rank's buffers are its own again.
Task run_in_place_or_not(Strand& strand, Operation& operation, std::size_t stage, int which);

// Returns the memory of this rank that others of its lowest group reach into.
ReachedMemory reached_in_level(const LevelGroup& lowest, Collective collective,
                               const CallArguments& args);

}  // namespace sumac

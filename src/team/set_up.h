// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a team agree, once, on how it is served. Every step is collective:
//   1. introduction: who and where everybody is. What follows from it is the same on all ranks.
//   2. where ranks share memory, leaders offer blocks, and all tell what worked for them.
// A local failure never leads to a local decision: it goes into the next agreement.
#pragma once

#include <vector>

#include "team/introduction.h"
#include "team/team.h"
#include "team/warnings.h"

namespace sumac {

// Sets the team up. `team` knows its rank and size, of at least two ranks; `own` is what this rank
// tells about itself. Afterwards the team is `together` on all ranks, or handed down on all of them
// for the same reason; with `agree_only` it may also go on counting calls.
void set_up_team(Team& team, const Hello& own, bool agree_only);

// Sends the team's calls to the MPI from here on. Gives back what the team has; all its ranks do so
// now.
void hand_down_for_good(Team& team, Reason reason);

// These bits tell what worked on this rank. The ranks agree on what worked on all of them.
inline constexpr std::uint64_t kMapped = 1, kCopies = 2, kMessages = 4, kMaps = 8;
// XPMEM shows this rank all memory of the others.
inline constexpr std::uint64_t kSeesAll = 64;
// These tell of the groups that this rank leads: none was too large for the budget, and none must
// be measured.
inline constexpr std::uint64_t kInBudget = 16, kMeasured = 32;

// Tells what this rank can copy, as bits; and, from the bits agreed on, what all ranks can do.
constexpr std::uint64_t bits_of(Reach reach) { return reach >= Reach::copies ? kCopies : 0; }
constexpr Reach reach_of(std::uint64_t agreed) {
  if (!(agreed & kCopies)) return Reach::none;
  return agreed & (kMaps | kSeesAll) ? Reach::maps : Reach::copies;
}
constexpr bool sees_all(std::uint64_t agreed) {
  return (agreed & kCopies) != 0 && (agreed & kSeesAll) != 0;
}
// Returns this rank's copies from and to the buffers of `pids`, by rank; null if there are none.
std::unique_ptr<PeerMemory> make_peer_memory(Reach reach, const std::vector<pid_t>& pids);

// The ways in which this rank sees the memory of a group whose members share a node.
class SeenMemory {
 public:
  // Sees nothing, and needs to see nothing.
  SeenMemory() = default;
  // `own` is this rank in the group.
  SeenMemory(const std::vector<pid_t>& pids, const std::vector<Hello>& members, int own);
  // Tells what this rank can see.
  std::uint64_t bits() const;
  // Returns how this rank reaches the group, when all ranks have agreed on these bits. Null if it
  // cannot.
  std::unique_ptr<PeerMemory> take(std::uint64_t agreed);

 private:
  std::vector<pid_t> pids_;
  std::unique_ptr<PeerMemory> all_, in_files_;
};
std::uint64_t agree(Team& team, std::uint64_t worked);

// Sets up the hierarchies of the team's collectives; none if one flat group is enough. `node` has
// the hellos of this rank's node, and `reach` is what this rank can do with the buffers there.
// Returns false, with the team handed down, if it cannot be served so.
bool set_up_levels(Team& team, const Introduction& all, const std::vector<Hello>& node,
                   Reach reach);

// Persistent operations leave half of SUMAC_SHM_BUDGET to communicators: the memory they have had
// stays with their communicator, for its next persistent operations.
inline std::size_t budget_of_own_ranks(const Team& team) {
  return team.context.options.shm_budget / 2;
}

// Makes a hierarchy for one persistent operation alone, of a team that has one for the collective.
// Its messages have tags from `first_tag` on. Returns null, on all ranks, if there is no memory for
// it.
std::unique_ptr<LevelsRun> make_own_levels(Team& team, Collective collective, int first_tag);

// Persistent operations are carried out each on slots, lanes and tags of its own, which all ranks
// agree on when it is initialised. So operations are matched by the order of their initialisation,
// whatever the order in which ranks start them.

// Collective; waits for all ranks. Returns a place that no other operation uses on any rank, for an
// operation of the collective that takes `choice`, or tries to go direct first. Returns null, on
// all ranks, if there is no memory for it.
OwnRanks* acquire_own_ranks(Team& team, Collective collective, const Choice& choice,
                            bool direct = false);

}  // namespace sumac

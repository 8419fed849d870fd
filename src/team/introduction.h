// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a team introduce themselves. Each finds out what holds of all ranks, where all are,
// and everything about those of its own machine. No rank receives or keeps a table of all others,
// except rank 0, which receives a Brief of each once:
//   1. a reduction tells what holds of all;
//   2. rank 0 gathers briefs, and broadcasts the places as runs of ranks;
//   3. the ranks of each machine gather one another's hellos.
// In small teams, and if all ranks are on one machine, one all-gather of hellos tells as much in
// fewer steps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "team/hello.h"
#include "team/team.h"

namespace sumac {

// Something that may hold of all ranks.
enum class Fact : std::uint8_t {
  same_options,  // as have all others
  same_types,
  same_warnings,
  same_machine,
  no_device,            // Sumac can tell the host's memory from that of GPUs
  no_runtime,           // no run-time of GPUs is loaded
  has_world,            // there is an MPI_COMM_WORLD
  is_whole_job,         // it has as many ranks as the team
  reports_all,          // SUMAC_STATS=all
  progresses_messages,  // also inside other calls of the MPI
  one_caller,           // one thread of each process at a time calls the MPI
  may_make_messages,    // fewer than kMostMessengers
  may_keep_messages,    // fewer than half as many
  unknown_in_job,       // the number in the job is not known
  not_first_in_job,     // it is not 0
};

// Rank 0 says this about itself and all ranks.
struct First {
  std::uint64_t options, types, process, serial;
  std::uint64_t members;  // hash of the processes of all ranks, in their order
};

class Introduction {
 public:
  // Collective: finds out what holds of all ranks.
  Introduction(Team& team, const Hello& own);

  bool all(Fact fact) const { return facts_[0] >> static_cast<int>(fact) & 1; }
  const Hello& own() const { return own_; }

  // Collective: returns the lowest rank that keeps the ranks from being served together, with the
  // reason, or -1 if there is none. first() is known from then on if there is one.
  int find_odd_rank(Reason& reason);

  // Collective, if no rank is odd: finds out where all are, and who is on this rank's machine.
  // Everything below is known from then on. Returns false, on all ranks, if that failed.
  bool meet();

  const First& first() const { return first_; }
  const Placement& placement() const { return placement_; }
  // Returns the hellos of the ranks of this rank's machine, in the order of ranks.
  const std::vector<Hello>& on_machine() const { return hellos_; }
  std::size_t own_place_on_machine() const;
  // Returns those of the ranks of this rank's node.
  std::vector<Hello> on_node() const;

 private:
  // Each word and its complement: ranks have the same if no bit is missing in both.
  static constexpr std::size_t kCompared = 4;
  using Facts = std::array<std::uint64_t, 1 + 2 * kCompared>;

  Facts facts_of(const Hello& hello) const;
  void note_same();
  void gather_all();
  void learn_places();
  bool learn_neighbours();

  Team& team_;
  const Hello own_;
  Facts facts_;
  First first_{};
  Placement placement_;
  RankList machine_;           // the ranks whose hellos are here
  std::vector<Hello> hellos_;  // all ranks' until meet(), if they were gathered
};

// Collective over the team: gathers `bytes` bytes of each of `members`, this rank's node or
// machine, in their order. Returns false, on all of them, if that failed.
bool gather_among(Team& team, const RankList& members, const void* own, void* all,
                  std::size_t bytes);

}  // namespace sumac

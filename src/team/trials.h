// SPDX-License-Identifier: BSD-3-Clause
// Whether the MPI's own function is faster for a team's collective and size, found by trial.
//
// Idea: calls of one collective whose bytes lie between the same powers of two are a class. The
// first kCallsBefore calls of a class go as ever; the next kTurns go in turns to Sumac and to the
// MPI, and each rank keeps the least time of its calls either way. At the call after these the
// ranks agree on the greatest of these times over all ranks and on the least. The class is handed
// down where Sumac's exceeds the MPI's by more than an eighth; a smaller difference may be chance.
// Without a root that must be so of both: where all wait for all, the least is that of a rank that
// came last and waited for none, and the greatest shows how long programs' ranks wait for each
// other. With a root only the greatest counts, since the root itself may wait for nobody.
// Order of turns: that of Thue and Morse, S M M S M S S M ... Programs that repeat 2, 4 or 8 calls
// of a class, of which some follow a computation and others do not, give both ways as many of each.
// Cost: one agreement a class and team; calls of a class that is kept look at one bit.
// Used for: blocking calls, see interpose/calls/adapt.h. Needs: that all ranks count the same calls
// and have the same classes open, so that they take turns at the same calls.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/collectives.h"
#include "rules/choice_table.h"
#include "team/oob.h"

namespace sumac {

struct Team;

// The values of SUMAC_ADAPT.
enum class Adapt : std::uint8_t { off, exact, all, always };

enum class Turn : std::uint8_t {
  as_ever,      // Sumac's
  sumac,        // Sumac's, timed
  native,       // the MPI's, timed
  handed_down,  // the MPI's, which was faster
};

// The least times (ns) of one rank, or of these the greatest or least over all ranks; 0 where there
// is none.
struct TurnTimes {
  std::uint64_t sumac = 0, native = 0;
};
struct AgreedTimes {
  TurnTimes greatest, least;
};

// The trial of one class.
class Trial {
 public:
  static constexpr std::uint32_t kCallsBefore = 128, kCallsBetween = 1 << 14;
  static constexpr int kTurns = 16;
  static Turn turn(int number) {
    return std::popcount(static_cast<unsigned>(number)) % 2 == 0 ? Turn::sumac : Turn::native;
  }

  // Counts a call and says whose it is. `again`: trials are repeated, kCallsBetween calls after the
  // last one. Not to be called while is_over().
  Turn next(bool again);
  // Records how long the call of this turn took. A call that left by an exception has no time.
  void note(Turn turn, std::uint64_t ns);

  // True when all turns have been taken: the ranks must agree before the next call.
  bool is_over() const { return turns_ == kTurns; }
  TurnTimes least() const;
  bool is_handed_down() const { return handed_down_; }
  // Ends the trial with what the ranks have agreed on. Returns true when the class is handed down.
  bool settle(const AgreedTimes& times, bool has_root);

 private:
  std::uint32_t calls_ = 0;  // since the last trial
  std::uint8_t turns_ = 0;   // taken in this trial
  bool settled_ = false, handed_down_ = false;
  TurnTimes least_;
};

// The trials of a team.
class Trials {
 public:
  static constexpr int kClasses = 64;
  // 0; then 1, 2 to 3, 4 to 7 bytes and so on.
  static int class_of(std::size_t bytes) { return std::bit_width(bytes); }

  // Opens the classes whose bits are set in `classes`, by collective, for new trials.
  void open(const std::uint64_t (&classes)[kNumCollectives], bool again);
  void close();

  // False where calls go as ever, and there is nothing to count: one load and one branch.
  bool is_open(Collective collective, std::size_t bytes) const {
    return open_[static_cast<int>(collective)] >> class_of(bytes) & 1;
  }
  // Of an open class. Memory is taken at the first call of a collective.
  Trial& of(Collective collective, std::size_t bytes);
  Turn next(Trial& trial) const { return trial.next(again_); }
  // Collective: settles a trial that is over. Returns what the ranks have agreed on.
  AgreedTimes settle(Collective collective, std::size_t bytes, Oob& oob);

 private:
  std::uint64_t open_[kNumCollectives] = {};
  bool again_ = false;
  std::unique_ptr<Trial[]> trials_[kNumCollectives];
};

// The classes in which the choice is Sumac's own: at no size by the first `user_rules` rules, by
// SUMAC_ALGO or by SUMAC_NODE_RADIX.
std::uint64_t free_classes(const ChoiceTable& choices, Collective collective,
                           std::size_t user_rules);

// Opens the trials of a team that is set up, as its options and rules want them: the same on all
// ranks.
void open_trials(Team& team);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Trials find which route of a team's calls is the fastest for their collective and size.
//
// Idea: calls of one collective whose bytes lie between the same powers of two are a class. The
// first calls of a class go by the rules. Then that route is compared with a rival, and the one
// kept with the next rival: first another of Sumac's algorithms, which gives the same bits, then
// the MPI's own function, if its results may be taken. In a comparison kTurns calls go in turns
// either way, and each rank keeps the least time of its calls. In the next call of any class from
// which no rank returns early the ranks agree on the greatest of these times over all ranks and on
// the least; until then the route kept so far serves. The rival is kept if the other route's times
// exceed its own by more than an eighth; a smaller difference may be chance. Without a root both
// the greatest and the least must do so: where all wait for all, the least is that of a rank that
// came last and waited for none, and the greatest shows how long programs' ranks wait for each
// other. With a root only the greatest counts, since the root itself may wait for nobody. The turns
// have the order of Thue and Morse, K R R K R K K R ... Programs that repeat 2, 4 or 8 calls of a
// class, some of which follow a computation while others do not, give both ways the same number of
// each. Cost: one agreement for each comparison; calls of a class that stays with the rules look at
// one bit. Used for: blocking calls, see interpose/calls/adapt.h. Needs: that all ranks count the
// same calls and have the same classes open, so that they take turns at the same calls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/collectives.h"
#include "rules/choice_table.h"
#include "team/oob.h"

namespace sumac {

struct Team;

// These are the values of SUMAC_ADAPT.
enum class Adapt : std::uint8_t { off, exact, all, always };

// The route says by whom and how a call is served.
enum class Route : std::uint8_t {
  rules,   // Sumac serves it, as the rules choose
  other,   // Sumac serves it, by another algorithm
  native,  // the MPI's own function serves it
};

struct Turn {
  Route route = Route::rules;
  bool timed = false;
  bool operator==(const Turn&) const = default;
};

// The least times (ns) of one rank, or the greatest or least of these over all ranks; 0 if there is
// none.
struct TurnTimes {
  std::uint64_t kept = 0, rival = 0;
};
struct AgreedTimes {
  TurnTimes greatest, least;
};

// The outcome of a comparison.
struct Compared {
  Route kept, rival;  // the two that were compared
  AgreedTimes times;
  bool rival_is_faster;
};

// The trial of one class is a series of comparisons.
class Trial {
 public:
  static constexpr std::uint32_t kCallsBetween = 1 << 14;
  static constexpr int kTurns = 16;
  static bool is_rivals(int turn) { return std::popcount(static_cast<unsigned>(turn)) % 2 == 1; }

  // Returns true if comparisons are to begin with the next call: after the first `before` calls,
  // and, if they are repeated `again`, kCallsBetween calls after the last one.
  bool is_due(std::uint32_t before, bool again) const {
    return rival_ == Route::rules && calls_ == (settled_ ? kCallsBetween : before) &&
           (again || !settled_);
  }
  // Begins them, with Sumac's algorithm `other` if it is not native, and with the MPI if
  // `with_mpi`. Without either the rules are kept.
  void begin(const Choice& other, bool with_mpi);
  const Choice& other() const { return other_; }

  // Counts a call and says how it goes. It must not be called while is_due(). While is_over() the
  // route that was kept so far serves.
  Turn next(bool again);
  // Records how long the call of this turn took. A call that left by an exception has no time.
  void note(Route route, std::uint64_t ns);

  // Returns true if all turns have been taken: the ranks have yet to agree.
  bool is_over() const { return turns_ == kTurns; }
  TurnTimes least() const { return least_; }
  // Ends a comparison with what the ranks have agreed on.
  Compared settle(const AgreedTimes& times, bool has_root);
  // Returns true if calls go by the rules from now on, unless the trial is repeated.
  bool stays() const { return settled_ && rival_ == Route::rules && kept_ == Route::rules; }

 private:
  std::uint32_t calls_ = 0;  // calls since the last trial
  std::uint8_t turns_ = 0;   // turns taken in this comparison
  bool settled_ = false, then_mpi_ = false;
  // Rival_ is `rules` if no comparison is under way.
  Route kept_ = Route::rules, rival_ = Route::rules;
  Choice other_;
  TurnTimes least_;
};

// The MPI's results may be taken for a call (any), or only Sumac's own. The two kinds are tried
// apart.
enum class Results : std::uint8_t { any, own };
inline constexpr int kResults = 2;

// These are the trials of a team.
class Trials {
 public:
  static constexpr int kClasses = 64;
  // The classes are 0 bytes, then 1, 2 to 3, 4 to 7 bytes and so on.
  static int class_of(std::size_t bytes) { return std::bit_width(bytes); }
  // Returns how many calls of a class come before its trial: as many as go through the memory of
  // long rings (4 MiB). Each page of it is touched for the first time, which takes the kernel
  // longer than such calls take.
  static std::uint32_t calls_before(std::size_t bytes) {
    constexpr std::uint32_t kLeast = 128;
    constexpr int kInLines = 11, kRing = 22;  // powers of two: data without payload, 4 MiB
    const int power = class_of(bytes);
    return power <= kInLines || power > kRing ? kLeast : std::max(kLeast, 2u << (kRing - power));
  }

  // Classes has a bit for each class, by collective.
  using Classes = std::uint64_t[kNumCollectives];
  // Opens the classes whose bits are set for new trials: with the MPI in `any`, with another of
  // Sumac's algorithms also in `own`.
  void open(const Classes& any, const Classes& own, bool again);

  // Returns a bit for each class in which calls of either kind are counted; in others they go by
  // the rules.
  std::uint64_t open_classes(Collective collective) const {
    const std::uint64_t(&open)[kResults] = open_[static_cast<int>(collective)];
    return open[0] | open[1];
  }
  bool is_open(Collective collective, std::size_t bytes, Results results) const {
    return bits(collective, results) >> class_of(bytes) & 1;
  }
  // Returns the trial of an open class. Memory is taken at the first call of a collective.
  Trial& of(Collective collective, std::size_t bytes, Results results);
  // Counts a call of an open class, and says how it goes. `find_other` gives Sumac's other
  // algorithm, or native.
  template <class FindOther>
  Turn next(Collective collective, std::size_t bytes, Results results, FindOther find_other) {
    Trial& trial = of(collective, bytes, results);
    if (trial.is_due(calls_before(bytes), again_))
      trial.begin(find_other(), results == Results::any);
    if (trial.stays() && !again_) {
      open_[static_cast<int>(collective)][static_cast<int>(results)] &=
          ~(std::uint64_t{1} << class_of(bytes));
    }
    const Turn turn = trial.next(again_);
    over_ += turn.timed && trial.is_over();
    return turn;
  }

  // Returns true if comparisons are over on which the ranks have yet to agree. They do so at the
  // beginning of a call in which all wait for all, since others must not wait.
  bool wait_to_agree() const { return over_ > 0; }
  // Collective: settles these comparisons, and tells `settled` of each: its collective, the least
  // bytes of its class, its trial, and its outcome.
  template <class Settled>
  void agree(Oob& oob, Settled settled) {
    for (int c = 0; c < kNumCollectives && over_ > 0; ++c) {
      for (const auto& of_results : trials_[c]) {
        for (int k = 0; of_results && k < kClasses; ++k) {
          Trial& trial = of_results[static_cast<std::size_t>(k)];
          if (!trial.is_over()) continue;
          const auto collective = static_cast<Collective>(c);
          const std::size_t least = k == 0 ? 0 : std::size_t{1} << (k - 1);
          settled(collective, least, trial, settle(collective, trial, oob));
          --over_;
        }
      }
    }
  }

 private:
  std::uint64_t bits(Collective collective, Results results) const {
    return open_[static_cast<int>(collective)][static_cast<int>(results)];
  }
  Compared settle(Collective collective, Trial& trial, Oob& oob);

  std::uint64_t open_[kNumCollectives][kResults] = {};
  bool again_ = false;
  int over_ = 0;  // comparisons on which the ranks have yet to agree
  std::unique_ptr<Trial[]> trials_[kNumCollectives][kResults];
};

// Returns the classes in which the choice is Sumac's own: the first `user_rules` rules, SUMAC_ALGO
// and SUMAC_NODE_RADIX choose at none of their sizes.
std::uint64_t free_classes(const ChoiceTable& choices, Collective collective,
                           std::size_t user_rules);

// Opens the trials of a team that is set up, as its options and rules want them: the same on all
// ranks.
void open_trials(Team& team);

}  // namespace sumac

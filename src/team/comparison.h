// SPDX-License-Identifier: BSD-3-Clause
// A comparison finds the fastest of the candidates for the calls of a class, by timing some calls
// of each.
//
// Idea: it has rounds. In a round each candidate that is left serves 2, 2, 4 and then 8 calls, and
// each rank keeps the least time that it has seen of each candidate. After a round the ranks agree
// on the greatest and on the least of these times over all ranks, and drop the candidates that are
// slower than another by more than 2x, 1.5x, 1.25x and, after the last round, by more than an
// eighth; a smaller difference may be chance. Of those that are left then, the first is kept, which
// is the likeliest. Without a root both times must be slower: where all wait for all, the least is
// that of a rank that came last and waited for none, and the greatest shows how long programs'
// ranks wait for each other. With a root only the greatest counts, since the root itself may wait
// for nobody. The MPI's first call opens connections: one call of it that is not timed comes before
// all rounds.
//
// The least of mixed turns does not show how long calls in a row take: where ranks share
// processors, an MPI that waits without yielding needs a time slice for each, but is quick in a
// turn before which all ranks have just run, and makes Sumac's next turn slow. So if the MPI's
// function is the fastest, a last round follows, in rows: 8 calls by Sumac's best candidate, then 8
// by the MPI. If its row takes more than half as long again as Sumac's, it is dropped. Until then
// Sumac's best candidate counts as the best one, unless the MPI has been serving already.
//
// Trials may take a twentieth of the time of a class. The turns of a candidate that is slower than
// the best cost the difference, and so does an agreement; calls that go by the best pay for them,
// and a round that the calls so far have not paid for has to wait. Of a candidate that has had no
// turn yet this takes it that it needs four times as long as the best, which large messages of some
// MPIs do, and of the MPI's first call that it needs as long as two more. All of it is reckoned
// from times that the ranks have agreed on. Cost: one agreement for each round; a candidate that is
// twice as slow as another serves two calls. Needs: that all ranks take the same turns at the same
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/choice_table.h"

namespace sumac {

// The route says by whom and how a call is served.
enum class Route : std::uint8_t {
  rules,   // Sumac serves it, as the rules choose
  other,   // Sumac serves it, by another algorithm
  native,  // the MPI's own function serves it
};

// The candidates of a class, the likeliest first: what the rules choose, the choices that may take
// its place, and, if its results may be taken, the MPI's own function.
class Candidates {
 public:
  static constexpr int kMostOthers = 2, kMost = kMostOthers + 2;

  Candidates() = default;
  // `first` is what the rules choose for the first call of the class.
  Candidates(const Choice& first, const std::vector<Choice>& others, bool with_mpi);

  int count() const { return own() + with_mpi_; }
  // Returns how many are Sumac's own: the first ones.
  int own() const { return 1 + others_; }
  bool with_mpi() const { return with_mpi_; }
  Route route(int candidate) const {
    if (candidate == 0) return Route::rules;
    return candidate <= others_ ? Route::other : Route::native;
  }
  // Returns the choice of a candidate whose route is `other`.
  const Choice& other(int candidate) const { return choices_[candidate]; }

  // Returns the candidate that is what `candidate` is among `those`; the first one if there is
  // none, or if the rules choose differently for the two, so that they were compared with something
  // else.
  int like(const Candidates& those, int candidate) const;

 private:
  Choice choices_[1 + kMostOthers];
  std::uint8_t others_ = 0;
  bool with_mpi_ = false;
};

// A comparison uses a call for this.
enum class TurnKind : std::uint8_t {
  none,     // nothing
  warm_up,  // it opens the MPI's connections
  timed,    // its time counts
};

struct Turn {
  Route route = Route::rules;
  std::uint8_t candidate = 0;
  TurnKind kind = TurnKind::none;
  bool operator==(const Turn&) const = default;
};

// The greatest and the least over all ranks of a candidate's least time, or of the sum of the times
// of its row (ns). 0 if a rank has none.
struct AgreedTime {
  std::uint64_t greatest = 0, least = 0;
};

// Says whether the last candidate is the MPI's function, and what is known of it: nothing, so that
// its first call opens connections; that it is not what serves; or that it is.
enum class Mpi : std::uint8_t { none, cold, warm, serves };

class Comparison {
 public:
  static constexpr int kRounds = 4;                     // those of mixed turns
  static constexpr int kTurns[kRounds] = {2, 2, 4, 8};  // each candidate has so many
  static constexpr int kRow = 8;                        // each of two has so many in a row
  static constexpr int kWords = 2 * Candidates::kMost + 1;
  // So many calls by the best pay for a turn that takes twice as long.
  static constexpr std::uint32_t kPayingCalls = 20;
  // A candidate is taken to need so many times as long as the best until it has been tried, and the
  // MPI's first call so many times as long as its others.
  static constexpr std::uint32_t kUntried = 4, kFirstCall = 2;
  // Nothing is paid for with more calls than these.
  static constexpr std::uint32_t kMostCalls = 1 << 30;

  // Returns how many calls pay for the first round of so many candidates, and for a call that warms
  // the last one up.
  static constexpr std::uint32_t calls_before(int candidates, bool warms_up) {
    const auto turns = static_cast<std::uint32_t>(kTurns[0] * (candidates - 1));
    const std::uint32_t first = warms_up ? kUntried * kFirstCall - 1 : 0;
    return kPayingCalls * ((kUntried - 1) * turns + first);
  }

  // Compares this many candidates. A call comes before that warms the last one up, if it is cold.
  Comparison(int candidates, Mpi mpi);

  // Says whose turn the next call is, but for the route. A round must be under way.
  Turn next();
  // Records how long (ns) the timed call took that was the last turn. A call that left by an
  // exception has no time.
  void note(std::uint64_t ns);

  // Returns true if all turns of the round have been taken: the ranks have yet to agree.
  bool round_is_over() const { return turns_ == left() * turns_of_each(); }
  // Writes what this rank says, of which the ranks must take the greatest, word by word.
  // `agreement_ns` is how long agreements take on this rank; 0 if that is not known.
  void write(std::uint64_t (&words)[kWords], std::uint64_t agreement_ns) const;
  // Ends the round with what the ranks have agreed on.
  void settle(const std::uint64_t (&agreed)[kWords], bool has_root);
  // Returns how many calls that go by the best pay for all turns so far and for those of the next
  // round, if there is one.
  std::uint32_t calls_to_pay() const;

  // Returns true if all rounds are over, or only one candidate is left that has nothing to show.
  bool has_ended() const { return has_ended_; }
  // Returns the first candidate that no other has been found to be clearly faster than, but the
  // MPI's function only once it has had its row or if it serves already.
  int best() const { return fastest_ < own_ || mpi_may_serve_ ? fastest_ : best_own_; }
  // Returns the first of Sumac's candidates, left or not, that no other of them is faster than.
  int best_own() const { return best_own_; }
  // Returns what the ranks last agreed on of this candidate, and of its row if it had one.
  const AgreedTime& time(int candidate) const { return agreed_[candidate]; }
  const AgreedTime& row(int candidate) const { return rows_[candidate]; }

 private:
  int left() const;
  int turns_of_each() const { return in_rows_ ? kRow : kTurns[round_]; }
  void settle_mixed(const AgreedTime (&times)[Candidates::kMost], bool has_root);
  void settle_rows(const AgreedTime (&sums)[Candidates::kMost], bool has_root);
  std::uint8_t first_of_fastest_own(bool has_root) const;
  std::uint64_t cost_of_round() const;

  std::uint64_t cost_ = 0;                       // this has been spent, in ns
  std::uint64_t agreement_ns_ = 0;               // no rank has less; 0: not known
  std::uint64_t times_[Candidates::kMost] = {};  // this rank's least ones; in rows the sums
  AgreedTime agreed_[Candidates::kMost], rows_[Candidates::kMost];
  std::uint8_t left_;  // a bit for each candidate that is left
  std::uint8_t own_;   // so many are Sumac's: the first ones
  std::uint8_t round_ = 0, fastest_ = 0, best_own_ = 0;
  std::uint8_t last_ = 0;   // the last turn was this candidate's
  std::uint8_t turns_ = 0;  // taken in this round
  // The first call of the last candidate is still to be made, or to be paid for.
  bool warms_up_, owes_first_call_;
  bool mpi_may_serve_;
  bool in_rows_ = false, has_ended_ = false;
};

// Returns which of `left` candidates has a turn of a round. Programs that repeat 2, 4 or 8 calls of
// a class, some of which follow a computation while others do not, give all candidates the same
// number of each, if the round is so long.
int candidate_of_turn(int left, int round, int turn);

}  // namespace sumac

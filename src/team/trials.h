// SPDX-License-Identifier: BSD-3-Clause
// Trials find which route of a team's calls is the fastest for their collective and size. Rules
// name the candidates, and calls choose among them.
//
// Idea: calls of one collective whose bytes lie between the same powers of two are a class. The
// first calls of a class go by the rules, or by what a class of half or twice the bytes has found
// to be faster. Once they have paid for it, the candidates are compared (team/comparison.h), and
// the fastest serves. The ranks agree after each round of the comparison, in the next call of any
// class from which no rank returns early; until then, and while calls pay for the next round, what
// is known to be the fastest serves; the MPI's function does so only once a comparison has ended
// with it. Since the machine may have been busy meanwhile, the class is compared again, after more
// and more calls as long as it has the same outcome. Cost: the agreements; a call of a class that
// stays with the rules counts down one number. Used for: blocking calls; nonblocking and persistent
// ones follow what these have learnt, see interpose/calls/adapt.h. Needs: that all ranks count the
// same calls and have the same classes open, so that they take turns at the same calls.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/algorithm.h"
#include "rules/choice_table.h"
#include "team/comparison.h"
#include "team/oob.h"

namespace sumac {

struct Team;

// These are the values of SUMAC_ADAPT.
enum class Adapt : std::uint8_t { off, exact, all };

// The trial of one class is a series of comparisons.
class Trial {
 public:
  // After a comparison so many calls go by its outcome, and twice as many each time that it is the
  // same again.
  static constexpr std::uint32_t kCallsBetween = 1 << 14, kMostBetween = 1 << 18;

  // Names the candidates, before the first call is counted.
  void begin(const Candidates& candidates);
  // Returns false until the candidates have been named.
  bool has_begun() const { return has_begun_; }
  const Candidates& candidates() const { return candidates_; }

  // Counts a call and says how it goes. While is_over(), or while calls pay for the next turns, the
  // candidate that is known to be the best serves.
  Turn next();
  // Records how long the timed call of this turn took. A call that left by an exception has no
  // time.
  void note(std::uint64_t ns) { comparison_->note(ns); }

  bool is_comparing() const { return comparison_ != nullptr; }
  // Returns true if a round of the comparison is over: the ranks have yet to agree.
  bool is_over() const { return is_comparing() && comparison_->round_is_over(); }
  // Collective: ends the round. Returns the comparison if it has ended. `agreement_ns` is how long
  // agreements take on this rank; 0 if that is not known.
  std::unique_ptr<const Comparison> agree(Oob& oob, bool has_root, std::uint64_t agreement_ns);
  // Returns the candidate that serves, and the one that serves calls for which the MPI is none.
  int kept() const { return kept_; }
  int kept_own() const { return kept_own_; }

  // Returns true if a comparison has ended.
  bool has_outcome() const { return between_ > 0; }
  // Until a comparison has begun, lets this candidate serve: a neighbouring class has found it.
  void follow(int candidate);

  // Returns how many of the next calls are known to go by the rules, once a comparison has begun.
  // They may be counted at once.
  std::uint32_t calls_by_rules() const { return kept_ == 0 && !is_new() ? wait_ : 0; }
  void count(std::uint32_t calls) { wait_ -= calls; }
  // Takes back calls that were counted and not made.
  void uncount(std::uint32_t calls) { wait_ += calls; }

 private:
  bool is_new() const { return !has_outcome() && !is_comparing(); }
  void begin_comparison();
  void end(int best);

  std::uint32_t wait_ = 0;  // so many calls go by `kept_` before the next turn
  std::uint32_t paying_ =
      0;  // calls that pay for the comparison: by `kept_`, with those of `wait_`
  std::uint32_t between_ = 0;  // calls from the last comparison to the next one; 0: there was none
  std::uint8_t outcome_ = 0;   // the best of the last one
  std::uint8_t kept_ = 0;      // this candidate serves: the outcome, or the best so far
  std::uint8_t kept_own_ = 0;  // the same without the MPI
  bool has_begun_ = false;
  Candidates candidates_;
  std::unique_ptr<Comparison> comparison_;  // the one under way
};

// The MPI's results may be taken for a call (any), or only Sumac's own. The two kinds are tried
// apart.
enum class Results : std::uint8_t { any, own };
inline constexpr int kResults = 2;

// These are the trials of a team.
class Trials {
 public:
  static constexpr int kClasses = kSizeClasses;
  // The classes are 0 bytes, then 1, 2 to 3, 4 to 7 bytes and so on.
  static int class_of(std::size_t bytes) { return std::bit_width(bytes); }
  // Classes has a bit for each class, by collective.
  using Classes = std::uint64_t[kNumCollectives];
  // Opens the classes whose bits are set for new trials: with the MPI in `any`, with other
  // algorithms of Sumac's also in `own`.
  void open(const Classes& any, const Classes& own);

  bool is_open(Collective collective, std::size_t bytes, Results results) const {
    return of_ && of_[static_cast<int>(collective)].is_open(class_of(bytes), results);
  }

  // Returns the calls for which a class is at rest: they go by the rules, and who makes them counts
  // them down, for the same calls on all ranks. At 0 the class is awake.
  std::uint16_t& rest_of(Collective collective, std::size_t bytes) {
    return at(static_cast<int>(collective)).rest[class_of(bytes)];
  }
  // Lays the class at rest for as many calls as go by the rules, if that is known, but no more than
  // `most`, which must be the same on all ranks. If one of its
  // kinds of results stays with the rules and there have been no calls of the other kind, the other
  // has to wait.
  void lay_at_rest(Collective collective, std::size_t bytes, std::uint32_t most = UINT16_MAX);
  // Wakes all classes.
  void wake();

  // Returns the trial of an open class. Memory is taken at the first call of a collective.
  Trial& of(Collective collective, std::size_t bytes, Results results);
  // Counts a call of an open class that is awake, and says how it goes. The rules choose `chosen`
  // for it; `find_others` gives the choices that may take its place.
  template <class FindOthers>
  Turn next(Collective collective, std::size_t bytes, Results results, const Choice& chosen,
            FindOthers find_others) {
    Trial& trial = begun(collective, bytes, results, chosen, find_others);
    const Turn turn = trial.next();
    over_ += turn.kind == TurnKind::timed && trial.is_over();
    return turn;
  }
  // Returns the choice for a call that takes no turn and is not counted: what other calls of its
  // class have found to be faster than the rules' choice, or the rules' choice. All ranks must ask
  // at the same place among the calls that they count.
  template <class FindOthers>
  const Choice& learnt(Collective collective, std::size_t bytes, Results results,
                       const Choice& chosen, FindOthers find_others) {
    const Trial& trial = begun(collective, bytes, results, chosen, find_others);
    return trial.kept_own() == 0 ? chosen : trial.candidates().other(trial.kept_own());
  }

  // Returns true if rounds are over on which the ranks have yet to agree. They do so at the
  // beginning of a call in which all wait for all, since others must not wait.
  bool wait_to_agree() const { return over_ > 0; }
  // Returns the number of these rounds.
  int rounds_over() const { return over_; }
  // Notes that agreeing on a round has taken so long on this rank.
  void note_agreement(std::uint64_t ns) {
    agreement_ns_ = agreement_ns_ == 0 ? ns : std::min(agreement_ns_, ns);
  }
  // Collective: ends these rounds, and tells `ended` of each comparison that has ended: its
  // collective, the least bytes of its class, its kind of results, its trial, and itself.
  template <class Ended>
  void agree(Oob& oob, Ended ended) {
    for (int c = 0; c < kNumCollectives && over_ > 0; ++c) {
      const auto collective = static_cast<Collective>(c);
      for (int results = 0; results < kResults; ++results) {
        const auto& trials = at(c).trials[results];
        for (int k = 0; trials && k < kClasses; ++k) {
          Trial& trial = trials[static_cast<std::size_t>(k)];
          if (!trial.is_over()) continue;
          --over_;
          const auto comparison = trial.agree(oob, info_of(collective).has_root, agreement_ns_);
          if (!comparison) continue;
          const std::size_t least = k == 0 ? 0 : std::size_t{1} << (k - 1);
          ended(collective, least, static_cast<Results>(results), trial, *comparison);
          follow_neighbours(c, k - 1, results);
          follow_neighbours(c, k + 1, results);
        }
      }
    }
  }

 private:
  // Returns the trial of an open class that has begun; null if there is none.
  Trial* find(int collective, int of_class, int results);
  // Lets a class that has not been compared serve its calls as its neighbours do theirs, if these
  // have been compared and agree.
  void follow_neighbours(int collective, int of_class, int results);
  // Returns the trial of an open class, which begins if it has not.
  template <class FindOthers>
  Trial& begun(Collective collective, std::size_t bytes, Results results, const Choice& chosen,
               FindOthers find_others) {
    Trial& trial = of(collective, bytes, results);
    if (trial.has_begun()) return trial;
    const Candidates candidates(chosen, find_others(), results == Results::any);
    trial.begin(candidates);
    follow_neighbours(static_cast<int>(collective), class_of(bytes), static_cast<int>(results));
    return trial;
  }

  // This is kept of the classes of one collective.
  struct OfCollective {
    std::uint64_t open[kResults] = {};  // a bit for each class
    // So many calls of each class are still to go by the rules. Its trials have counted them.
    std::uint16_t rest[kClasses] = {};
    std::unique_ptr<Trial[]> trials[kResults];  // null before the first call

    bool is_open(int of_class, Results results) const {
      return open[static_cast<int>(results)] >> of_class & 1;
    }
  };
  OfCollective& at(int collective) {
    if (!of_) of_ = std::make_unique<OfCollective[]>(kNumCollectives);
    return of_[static_cast<std::size_t>(collective)];
  }

  std::unique_ptr<OfCollective[]> of_;  // apart, because teams are moved (TeamSetUp)
  int over_ = 0;                        // rounds on which the ranks have yet to agree
  std::uint64_t agreement_ns_ = 0;      // the least time of an agreement on a round; 0: not known
};

// Returns the classes in which the choice is Sumac's own: the first `user_rules` rules, SUMAC_ALGO
// and SUMAC_NODE_RADIX choose at none of their sizes.
std::uint64_t free_classes(const ChoiceTable& choices, Collective collective,
                           std::size_t user_rules);

// Opens the trials of a team that is set up, as its options and rules want them: the same on all
// ranks.
void open_trials(Team& team);

}  // namespace sumac

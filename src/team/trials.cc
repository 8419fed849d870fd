// SPDX-License-Identifier: BSD-3-Clause
#include "team/trials.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "team/team.h"

namespace sumac {
namespace {

bool is_wanted(const ChoiceRange& range, std::size_t user_rules) {
  if (range.rule == kForced || range.rule == kByRadix) return true;
  return range.rule >= 0 && static_cast<std::size_t>(range.rule) < user_rules;
}

std::uint64_t classes_of(const Team& team, Collective collective) {
  const std::size_t user_rules = team.context.rules.rules.size();
  const LevelsRun* levels = team.levels_for[static_cast<int>(collective)];
  // The ranks of such a call do not know each other's bytes.
  if (!is_of_ranks(collective) || !info_of(collective).is_sized) return 0;
  // The choices of the whole do not show what the user wants of a level.
  if (levels && (user_rules > 0 || *team.context.options.algo)) return 0;
  return free_classes(levels ? levels->choices() : team.choices, collective, user_rules);
}

}  // namespace

void Trial::begin(const Candidates& candidates) {
  candidates_ = candidates;
  wait_ = paying_ = Comparison::calls_before(candidates.count(), candidates.with_mpi());
  has_begun_ = true;
}

void Trial::follow(int candidate) {
  if (!is_new()) return;
  kept_ = static_cast<std::uint8_t>(candidate);
  kept_own_ = candidates_.route(candidate) == Route::native ? 0 : kept_;
}

void Trial::begin_comparison() {
  const int count = candidates_.count();
  if (count == 1) {
    wait_ = between_ = kMostBetween;
    return;
  }
  Mpi mpi = Mpi::none;
  if (candidates_.with_mpi()) {
    const bool serves = candidates_.route(outcome_) == Route::native;
    mpi = !has_outcome() ? Mpi::cold : serves ? Mpi::serves : Mpi::warm;
  }
  comparison_ = std::make_unique<Comparison>(count, mpi);
}

void Trial::end(int best) {
  const bool same = between_ > 0 && best == outcome_;
  between_ = same ? std::min(2 * between_, kMostBetween) : kCallsBetween;
  outcome_ = kept_ = static_cast<std::uint8_t>(best);
}

Turn Trial::next() {
  if (wait_ == 0 && !comparison_) begin_comparison();
  Turn turn;
  turn.candidate = kept_;
  if (wait_ > 0) {
    --wait_;
  } else if (!comparison_->round_is_over()) {
    turn = comparison_->next();
  } else {
    ++paying_;
  }
  turn.route = candidates_.route(turn.candidate);
  return turn;
}

std::unique_ptr<const Comparison> Trial::agree(Oob& oob, bool has_root,
                                               std::uint64_t agreement_ns) {
  std::uint64_t words[Comparison::kWords];
  comparison_->write(words, agreement_ns);
  oob.all_max(words, Comparison::kWords);
  comparison_->settle(words, has_root);
  kept_own_ = static_cast<std::uint8_t>(comparison_->best_own());
  kept_ = static_cast<std::uint8_t>(comparison_->best());
  const std::uint32_t all = comparison_->calls_to_pay();
  wait_ = all > paying_ ? all - paying_ : 0;
  paying_ += wait_;
  if (!comparison_->has_ended()) return nullptr;
  end(kept_);
  wait_ += between_;
  paying_ = between_;
  return std::move(comparison_);
}

void Trials::open(const Classes& any, const Classes& own) {
  for (int c = 0; c < kNumCollectives; ++c) {
    at(c) = {};
    at(c).open[static_cast<int>(Results::any)] = any[c];
    at(c).open[static_cast<int>(Results::own)] = own[c];
  }
  over_ = 0;
  agreement_ns_ = 0;
}

Trial& Trials::of(Collective collective, std::size_t bytes, Results results) {
  auto& trials = at(static_cast<int>(collective)).trials[static_cast<int>(results)];
  if (!trials) trials = std::make_unique<Trial[]>(kClasses);
  return trials[static_cast<std::size_t>(class_of(bytes))];
}

Trial* Trials::find(int collective, int of_class, int results) {
  const OfCollective& of = at(collective);
  const auto& trials = of.trials[results];
  if (!trials || !of.is_open(of_class, static_cast<Results>(results))) return nullptr;
  Trial& trial = trials[static_cast<std::size_t>(of_class)];
  return trial.has_begun() ? &trial : nullptr;
}

void Trials::follow_neighbours(int collective, int of_class, int results) {
  if (of_class < 0 || of_class >= kClasses) return;
  Trial* const trial = find(collective, of_class, results);
  if (!trial) return;
  int followed = -1;
  for (const int neighbour : {of_class - 1, of_class + 1}) {
    if (neighbour < 0 || neighbour >= kClasses) continue;
    const Trial* const other = find(collective, neighbour, results);
    if (!other || !other->has_outcome()) continue;
    const int like = trial->candidates().like(other->candidates(), other->kept());
    followed = followed < 0 || followed == like ? like : 0;
  }
  if (followed >= 0) trial->follow(followed);
}

void Trials::lay_at_rest(Collective collective, std::size_t bytes, std::uint32_t most) {
  const int c = static_cast<int>(collective), k = class_of(bytes);
  OfCollective& of = at(c);
  const bool is_open = of.is_open(k, Results::any) || of.is_open(k, Results::own);
  Trial* trials[kResults];
  std::uint32_t calls = most;
  bool is_known = !is_open;
  for (int results = 0; results < kResults; ++results) {
    trials[results] = find(c, k, results);
    if (!trials[results]) continue;
    calls = std::min(calls, trials[results]->calls_by_rules());
    is_known = true;
  }
  if (!is_known || of.rest[k] > 0) return;
  for (Trial* trial : trials) {
    if (trial) trial->count(calls);
  }
  of.rest[k] = static_cast<std::uint16_t>(calls);
}

void Trials::wake() {
  for (int c = 0; c < kNumCollectives; ++c) {
    for (int k = 0; k < kClasses; ++k) {
      const std::uint32_t calls = std::exchange(at(c).rest[k], std::uint16_t{0});
      for (int results = 0; calls > 0 && results < kResults; ++results) {
        if (Trial* trial = find(c, k, results)) trial->uncount(calls);
      }
    }
  }
}

std::uint64_t free_classes(const ChoiceTable& choices, Collective collective,
                           std::size_t user_rules) {
  return ~classes_where(choices, collective, [user_rules](const ChoiceRange& range) {
    return is_wanted(range, user_rules);
  });
}

void open_trials(Team& team) {
  const auto adapt = static_cast<Adapt>(team.context.options.adapt);
  Trials::Classes any = {}, own = {};
  for (const CollectiveInfo& info : kCollectives) {
    const int c = static_cast<int>(info.collective);
    if (adapt != Adapt::off) any[c] = classes_of(team, info.collective);
    const bool one_group = !team.levels_for[c];
    if (adapt == Adapt::exact && info.reduces && one_group) own[c] = any[c];
  }
  team.trials.open(any, own);
}

}  // namespace sumac

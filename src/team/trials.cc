// SPDX-License-Identifier: BSD-3-Clause
#include "team/trials.h"

#include <algorithm>

#include "team/team.h"

namespace sumac {
namespace {

// Returns true if the kept route is slower by more than chance.
bool is_slower(const TurnTimes& times) {
  return times.rival > 0 && times.kept > times.rival && times.kept - times.rival > times.rival / 8;
}

bool is_wanted(const ChoiceRange& range, std::size_t user_rules) {
  if (range.rule == kForced || range.rule == kByRadix) return true;
  return range.rule >= 0 && static_cast<std::size_t>(range.rule) < user_rules;
}

// Returns the bits from `first` to `last`.
std::uint64_t bits(int first, int last) {
  return ~std::uint64_t{0} << first & ~std::uint64_t{0} >> (Trials::kClasses - 1 - last);
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

void Trial::begin(const Choice& other, bool with_mpi) {
  const bool with_other = other.algorithm != Algorithm::native;
  other_ = other;
  calls_ = turns_ = 0;
  least_ = {};
  settled_ = !with_other && !with_mpi;
  then_mpi_ = with_other && with_mpi;
  kept_ = Route::rules;
  rival_ = with_other ? Route::other : with_mpi ? Route::native : Route::rules;
}

Turn Trial::next(bool again) {
  if (is_over()) return {kept_, false};
  if (rival_ != Route::rules) return {is_rivals(turns_++) ? rival_ : kept_, true};
  if (!settled_ || again) ++calls_;
  return {kept_, false};
}

void Trial::note(Route route, std::uint64_t ns) {
  std::uint64_t& least = route == rival_ ? least_.rival : least_.kept;
  ns = std::max<std::uint64_t>(ns, 1);
  least = least == 0 ? ns : std::min(least, ns);
}

Compared Trial::settle(const AgreedTimes& times, bool has_root) {
  const bool faster = is_slower(times.greatest) && (has_root || is_slower(times.least));
  const Compared compared{kept_, rival_, times, faster};
  if (faster) kept_ = rival_;
  rival_ = then_mpi_ ? Route::native : Route::rules;
  settled_ = !then_mpi_;
  then_mpi_ = false;
  turns_ = 0;
  least_ = {};
  return compared;
}

void Trials::open(const Classes& any, const Classes& own, bool again) {
  *this = Trials();
  for (int c = 0; c < kNumCollectives; ++c) {
    open_[c][static_cast<int>(Results::any)] = any[c];
    open_[c][static_cast<int>(Results::own)] = own[c];
  }
  again_ = again;
}

Trial& Trials::of(Collective collective, std::size_t bytes, Results results) {
  auto& trials = trials_[static_cast<int>(collective)][static_cast<int>(results)];
  if (!trials) trials = std::make_unique<Trial[]>(kClasses);
  return trials[static_cast<std::size_t>(class_of(bytes))];
}

Compared Trials::settle(Collective collective, Trial& trial, Oob& oob) {
  const TurnTimes own = trial.least();
  std::uint64_t words[4] = {own.kept, own.rival, ~own.kept, ~own.rival};
  oob.all_max(words, 4);
  const AgreedTimes times{{words[0], words[1]}, {~words[2], ~words[3]}};
  return trial.settle(times, info_of(collective).has_root);
}

std::uint64_t free_classes(const ChoiceTable& choices, Collective collective,
                           std::size_t user_rules) {
  std::uint64_t classes = ~std::uint64_t{0};
  for (std::size_t from = 0;;) {
    const ChoiceRange& range = choices.range(collective, from);
    if (is_wanted(range, user_rules)) {
      const std::size_t most = std::min<std::size_t>(range.most, SIZE_MAX >> 1);
      classes &= ~bits(Trials::class_of(from), Trials::class_of(most));
    }
    if (range.most >= SIZE_MAX >> 1) return classes;
    from = range.most + 1;
  }
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
  team.trials.open(any, own, adapt == Adapt::always);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "team/trials.h"

#include <algorithm>

#include "team/team.h"

namespace sumac {
namespace {

// Slower by more than chance.
bool is_slower(const TurnTimes& times) {
  return times.native > 0 && times.sumac > times.native &&
         times.sumac - times.native > times.native / 8;
}

bool is_wanted(const ChoiceRange& range, std::size_t user_rules) {
  if (range.rule == kForced || range.rule == kByRadix) return true;
  return range.rule >= 0 && static_cast<std::size_t>(range.rule) < user_rules;
}

// The bits from `first` to `last`.
std::uint64_t bits(int first, int last) {
  return ~std::uint64_t{0} << first & ~std::uint64_t{0} >> (Trials::kClasses - 1 - last);
}

std::uint64_t classes_of(const Team& team, Collective collective) {
  const std::size_t user_rules = team.context.rules.rules.size();
  const LevelsRun* levels = team.levels_for[static_cast<int>(collective)];
  // The ranks of a call do not share its bytes.
  if (!is_of_ranks(collective) || !info_of(collective).is_sized) return 0;
  // What is wanted of a level does not show in the choices of the whole.
  if (levels && (user_rules > 0 || *team.context.options.algo)) return 0;
  return free_classes(levels ? levels->choices() : team.choices, collective, user_rules);
}

}  // namespace

Turn Trial::next(bool again) {
  if (!settled_ || again) {
    if (calls_ == (settled_ ? kCallsBetween : kCallsBefore)) {
      return turn(turns_++);
    }
    ++calls_;
  }
  return handed_down_ ? Turn::handed_down : Turn::as_ever;
}

void Trial::note(Turn turn, std::uint64_t ns) {
  std::uint64_t& least = turn == Turn::native ? least_.native : least_.sumac;
  ns = std::max<std::uint64_t>(ns, 1);
  least = least == 0 ? ns : std::min(least, ns);
}

TurnTimes Trial::least() const { return least_; }

bool Trial::settle(const AgreedTimes& times, bool has_root) {
  *this = Trial();
  settled_ = true;
  return handed_down_ = is_slower(times.greatest) && (has_root || is_slower(times.least));
}

void Trials::open(const std::uint64_t (&classes)[kNumCollectives], bool again) {
  close();
  std::copy(std::begin(classes), std::end(classes), open_);
  again_ = again;
}

void Trials::close() {
  for (std::uint64_t& classes : open_) classes = 0;
  for (auto& trials : trials_) {
    if (trials) std::fill_n(trials.get(), kClasses, Trial());
  }
}

Trial& Trials::of(Collective collective, std::size_t bytes) {
  auto& trials = trials_[static_cast<int>(collective)];
  if (!trials) trials = std::make_unique<Trial[]>(kClasses);
  return trials[static_cast<std::size_t>(class_of(bytes))];
}

AgreedTimes Trials::settle(Collective collective, std::size_t bytes, Oob& oob) {
  Trial& trial = of(collective, bytes);
  const TurnTimes own = trial.least();
  std::uint64_t words[4] = {own.sumac, own.native, ~own.sumac, ~own.native};
  oob.all_max(words, 4);
  const AgreedTimes times{{words[0], words[1]}, {~words[2], ~words[3]}};
  const bool down = trial.settle(times, info_of(collective).has_root);
  if (!down && !again_) {
    open_[static_cast<int>(collective)] &= ~(std::uint64_t{1} << class_of(bytes));
  }
  return times;
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
  std::uint64_t classes[kNumCollectives] = {};
  for (const CollectiveInfo& info : kCollectives) {
    if (adapt != Adapt::off) {
      classes[static_cast<int>(info.collective)] = classes_of(team, info.collective);
    }
  }
  team.trials.open(classes, adapt == Adapt::always);
}

}  // namespace sumac

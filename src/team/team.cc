// SPDX-License-Identifier: BSD-3-Clause
#include "team/team.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sumac {

bool marks_calls(const Team& team) {
  sumac_check check{};
  sumac_parse_check(team.context.options.check, &check);
  return check.calls;
}

std::vector<Choice> Team::choose_others(Collective collective, std::size_t bytes,
                                        const Choice& chosen) const {
  const LevelsRun* run = levels_for[static_cast<int>(collective)];
  Capabilities capabilities = run ? run->agreed().whole_group : spec.of_one_group();
  const Reach most = refusals.agreed ? Reach::none : Reach::copies;
  capabilities.reach = std::min(capabilities.reach, most);
  return next_choices(context.rules, capabilities, collective, bytes, chosen,
                      Candidates::kMostOthers);
}

// If the ranks have to agree on a trial, they do so in the next call of any size.
void Team::note_around(Collective collective, std::size_t bytes, bool always, std::uint32_t rest) {
  if (trials.wait_to_agree()) return trials.wake();
  const bool may_be_direct = direct_classes(collective) >> Trials::class_of(bytes) & 1;
  if (!always && !may_be_direct) trials.lay_at_rest(collective, bytes, rest);
}

void Team::end_levels() {
  if (levels.empty()) return;
  state = State::handed_down;
  for (TeamMessages& each : messages) {
    if (deferred) context.idle.keep(std::move(each));
  }
  for (LevelsRun*& run : levels_for) run = nullptr;
  own_ranks.clear();
  levels.clear();
  messages.clear();
}

void Team::give_back() {
  for (std::byte* block : blocks) Arena::release(block);
  blocks.clear();
  end_levels();
}

void Team::reset() {
  give_back();
  stats.clear();
  static_cast<TeamSetUp&>(*this) = TeamSetUp();
  state = State::counting;
  reason = Reason::first_calls;
  deferred = false;
  hierarchy.clear();
  identity = 0;
  refusals.here = refusals.agreed = false;
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This does to the trials of a team what the back end does in a blocking call.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "team/trials.h"

namespace sumac::testing {

struct OfClass {
  Collective collective = Collective::allreduce;
  std::size_t bytes = 0;
  Results results = Results::any;
};

// The rules choose this for all calls.
inline constexpr Choice kChosen{Algorithm::allreduce_flat_lines};

inline void open_all(Trials& trials) {
  Trials::Classes all;
  std::fill(std::begin(all), std::end(all), ~std::uint64_t{0});
  trials.open(all, all);
}

inline void settle(Trials& trials, Oob& oob) {
  trials.agree(oob, [](Collective, std::size_t, Results, const Trial&, const Comparison&) {});
}

// Returns true if the class is awake, and else counts the call if `counts`.
inline bool is_awake(Trials& trials, Collective collective, std::size_t bytes, bool counts) {
  std::uint16_t& rest = trials.rest_of(collective, bytes);
  if (rest == 0) return true;
  rest = static_cast<std::uint16_t>(rest - counts);
  return false;
}

// Makes a call. `ns_of(candidate)` is the time that it takes, if it is timed. A call of a class at
// rest goes by the rules.
template <class TimeOf>
Turn call_once(Trials& trials, const OfClass& of, Oob& oob, const std::vector<Choice>& others,
               TimeOf ns_of) {
  if (!is_awake(trials, of.collective, of.bytes, true)) return {};
  if (trials.wait_to_agree() && !info_of(of.collective).has_root) settle(trials, oob);
  const Turn turn =
      trials.next(of.collective, of.bytes, of.results, kChosen, [&] { return others; });
  if (trials.wait_to_agree()) {
    trials.wake();
  } else {
    trials.lay_at_rest(of.collective, of.bytes);
  }
  if (turn.kind == TurnKind::timed) {
    trials.of(of.collective, of.bytes, of.results).note(ns_of(turn.candidate));
  }
  return turn;
}

}  // namespace sumac::testing

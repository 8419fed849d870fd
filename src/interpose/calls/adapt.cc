// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/adapt.h"

#include "observe/log.h"

namespace sumac {
namespace {

const char* name_of(Route route, const Choice& rules, const Trial& trial) {
  switch (route) {
    case Route::rules:
      return name_of(rules.algorithm);
    case Route::other:
      return name_of(trial.other().algorithm);
    case Route::native:
      return "the MPI's own";
  }
  return "";
}

void tell(const Communicator& c, Collective collective, std::size_t bytes, const Trial& trial,
          const Compared& compared) {
  if (c.rank != 0) return;
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
  const auto& [greatest, least] = compared.times;
  const Choice& rules = c.choose(collective, bytes);
  log(Level::trace,
      "adapted: %s of %zu bytes and more on %d ranks: %s %.2f to %.2f us, %s %.2f to %.2f us: %s",
      name_of(collective), bytes, c.size, name_of(compared.kept, rules, trial), us(least.kept),
      us(greatest.kept), name_of(compared.rival, rules, trial), us(least.rival), us(greatest.rival),
      compared.rival_is_faster ? "the latter from now on" : "kept");
}

Trial& trial_of(const Call& call, const Decision& decision) {
  return decision.communicator->trials.of(call.collective(), decision.bytes, results_of(decision));
}

}  // namespace

void agree_on_turns(Communicator& c) {
  c.trials.agree(c.oob,
                 [&](Collective collective, std::size_t bytes, const Trial& trial,
                     const Compared& compared) { tell(c, collective, bytes, trial, compared); });
}

Turn next_turn(const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  const Collective collective = call.collective();
  const Results results = results_of(decision);
  const auto find_other = [&] {
    return c.choose_other(collective, decision.bytes, decision.choice);
  };
  Turn turn = c.trials.next(collective, decision.bytes, results, find_other);
  // Not all calls of a class have the same choice.
  const bool is_other = turn.route == Route::other;
  if (is_other && !may_replace(decision.choice, other_choice(call, decision), decision.bytes)) {
    turn.route = Route::rules;
  }
  return turn;
}

const Choice& other_choice(const Call& call, const Decision& decision) {
  return trial_of(call, decision).other();
}

void note_turn(const Call& call, const Decision& decision, std::uint64_t ns) {
  trial_of(call, decision).note(decision.turn.route, ns);
}

}  // namespace sumac

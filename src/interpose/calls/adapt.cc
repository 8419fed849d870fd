// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/adapt.h"

#include <cstdio>
#include <string>

#include "base/cpu.h"
#include "observe/learnt.h"
#include "observe/log.h"

namespace sumac {
namespace {

Trial& trial_of(const Call& call, const Decision& decision) {
  return decision.communicator->trials.of(call.collective(), decision.bytes, results_of(decision));
}

// Returns a function that finds what may take the place of the rules' choice.
auto find_others(const Call& call, const Decision& decision) {
  return [&call, &decision] {
    return decision.communicator->choose_others(call.collective(), decision.bytes, decision.choice);
  };
}

Algorithm algorithm_of(const Choice& rules, const Candidates& candidates, int candidate) {
  switch (candidates.route(candidate)) {
    case Route::rules:
      return rules.algorithm;
    case Route::other:
      return candidates.other(candidate).algorithm;
    case Route::native:
      break;
  }
  return Algorithm::native;
}

// Tells the candidates of a comparison with their times, and which one serves from now on.
void trace(const Communicator& c, const Learnt& learnt, const Choice& rules, const Trial& trial,
           const Comparison& comparison) {
  const auto times_text = [](const char* what, const AgreedTime& time) {
    char text[96];
    std::snprintf(text, sizeof text, "%s %.2f to %.2f us", what,
                  static_cast<double>(time.least) * 1e-3,
                  static_cast<double>(time.greatest) * 1e-3);
    return std::string(text);
  };
  std::string times;
  for (int i = 0; i < trial.candidates().count(); ++i) {
    times += times_text(way_name(algorithm_of(rules, trial.candidates(), i)), comparison.time(i));
    const AgreedTime& row = comparison.row(i);
    if (row.greatest > 0) times += times_text(", in a row", row);
    if (i + 1 < trial.candidates().count()) times += ", ";
  }
  log(Level::trace, "adapted: %s of %llu bytes and more on %d ranks: %s: %s from now on",
      name_of(learnt.collective), static_cast<unsigned long long>(learnt.bytes), c.size,
      times.c_str(), way_name(learnt.now));
}

void tell(const Communicator& c, Collective collective, std::size_t bytes, Results results,
          const Trial& trial, const Comparison& comparison) {
  const Choice& rules = c.choose(collective, bytes);
  Learnt learnt;
  learnt.collective = collective;
  learnt.bytes = bytes;
  learnt.ranks = c.size;
  learnt.kind = static_cast<std::uint8_t>(results);
  learnt.first = rules.algorithm;
  learnt.now = algorithm_of(rules, trial.candidates(), trial.kept());
  learnt.first_ns = comparison.time(0).greatest;
  learnt.now_ns = comparison.time(trial.kept()).greatest;
  note_learnt(learnt);
  if (c.rank == 0) trace(c, learnt, rules, trial, comparison);
}

}  // namespace

void agree_on_turns(Communicator& c) {
  const auto rounds = static_cast<std::uint64_t>(c.trials.rounds_over());
  const std::uint64_t begin = clock_ns();
  c.trials.agree(c.oob, [&](Collective collective, std::size_t bytes, Results results,
                            const Trial& trial, const Comparison& comparison) {
    tell(c, collective, bytes, results, trial, comparison);
  });
  c.trials.note_agreement((clock_ns() - begin) / rounds);
}

Turn next_turn(const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  const Turn turn = c.trials.next(call.collective(), decision.bytes, results_of(decision),
                                  decision.choice, find_others(call, decision));
  if (turn.route != Route::other) return turn;
  // Not all calls of a class have the same choice.
  const Choice& other = trial_of(call, decision).candidates().other(turn.candidate);
  return may_replace(decision.choice, other, decision.bytes) ? turn : Turn();
}

Choice learnt_choice(const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  const Choice& learnt = c.trials.learnt(call.collective(), decision.bytes, results_of(decision),
                                         decision.choice, find_others(call, decision));
  return may_replace(decision.choice, learnt, decision.bytes) ? learnt : decision.choice;
}

const Choice& other_choice(const Call& call, const Decision& decision) {
  return trial_of(call, decision).candidates().other(decision.turn.candidate);
}

void note_turn(const Call& call, const Decision& decision, std::uint64_t ns) {
  trial_of(call, decision).note(ns);
}

}  // namespace sumac

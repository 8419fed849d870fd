// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/adapt.h"

#include "observe/log.h"

namespace sumac {
namespace {

void settle(const Call& call, const Decision& decision, const Trial& trial) {
  Communicator& c = *decision.communicator;
  const AgreedTimes times = c.trials.settle(call.collective(), decision.bytes, c.oob);
  if (c.rank != 0) return;
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-3; };
  log(Level::trace,
      "adapted: %s of %zu bytes on %d ranks: %.2f to %.2f us, and the MPI's own %.2f to %.2f us: "
      "%s",
      name_of(call.collective()), decision.bytes, c.size, us(times.least.sumac),
      us(times.greatest.sumac), us(times.least.native), us(times.greatest.native),
      trial.is_handed_down() ? "handed down" : "kept");
}

}  // namespace

Turn next_turn(const Call& call, const Decision& decision) {
  Trials& trials = decision.communicator->trials;
  Trial& trial = trials.of(call.collective(), decision.bytes);
  if (trial.is_over()) settle(call, decision, trial);
  return trials.next(trial);
}

void note_turn(const Call& call, const Decision& decision, Turn turn, std::uint64_t ns) {
  decision.communicator->trials.of(call.collective(), decision.bytes).note(turn, ns);
}

}  // namespace sumac

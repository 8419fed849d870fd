// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/direct_memory.h"

#include "algorithms/direct.h"
#include "interpose/process/attachable.h"
#include "interpose/process/own_memory.h"
#include "promotion/born_shared.h"

namespace sumac {
namespace {

// Memory that is seen as a whole has no edges for whose pages others wait.
constexpr std::size_t kNoPages = 1;

// Uses the buffers that others reach into. `gain_ns` is what a call gains if all are promoted.
bool use_all(const ReachedMemory& memory, double gain_ns, bool all_seen) {
  const ReachedMemory::Buffer &input = memory.input, &output = memory.output;
  const bool both = output.address && output.address != input.address;
  const double of_each = both ? gain_ns / 2 : gain_ns;
  bool all = input.address && use_own_memory(input.address, input.bytes, of_each, all_seen);
  if (both) all &= use_own_memory(output.address, output.bytes, of_each, all_seen);
  return all;
}

// Returns the memory that others reach into, in a call of one group or of its lowest level.
ReachedMemory reached_by_others(const Communicator& c, const ChosenCall& call) {
  const LevelsRun* const levels = c.levels_for[static_cast<int>(call.collective)];
  return levels ? reached_in_level(levels->agreed().groups[0], call.collective, call)
                : reached_memory(c.rank, call.collective, call);
}

}  // namespace

DirectTry prepare_direct(Communicator& c, const ChosenCall& call, const CallData& data,
                         Algorithm direct, bool tries) {
  DirectTry attempt;
  if (direct == Algorithm::native || !(tries || promotes())) return attempt;
  const bool all_seen = c.sees_all_memory;
  if (all_seen) attempt.page = kNoPages;
  if (tries) begin_use_of_own_memory();
  const double gain_ns = c.direct_tries->gain_ns(call.collective, call.bytes());
  // Copies are Sumac's own memory for this one call, so they are not promoted.
  attempt.mapped = !data.has_copies() && (gain_ns > 0 || promotes_always()) &&
                   (!all_seen || attaching_works()) &&
                   use_all(reached_by_others(c, call), gain_ns, all_seen);
  if (tries) attempt.algorithm = direct;
  return attempt;
}

bool start_tries_direct(const Call& call, const Decision& decision) {
  Communicator& c = *decision.communicator;
  if (!c.direct_tries) return false;
  if (promotes() || c.sees_all_memory) return decision.direct != Algorithm::native;
  if (!call.collective_info().is_sized || decision.bytes < promotion::kLeastBorn) return false;
  const bool shared =
      lies_in_shared_memory(call.send.address) || lies_in_shared_memory(call.receive.address);
  const bool all = agree(c, shared || decision.direct == Algorithm::native);
  return all && decision.direct != Algorithm::native;
}

void note_direct(Communicator& c, const ChosenCall& call, const DirectTry& direct,
                 std::uint64_t ns) {
  note_call_time(ns);
  if (direct.wanted()) {
    end_use_of_own_memory();
    c.direct_tries->note(call.collective, call.bytes(), direct.went, ns);
  } else {
    c.direct_tries->note_other(call.collective, call.bytes(), ns);
  }
}

}  // namespace sumac

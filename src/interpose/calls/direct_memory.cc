// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/direct_memory.h"

#include "algorithms/direct.h"
#include "interpose/process/own_memory.h"

namespace sumac {
namespace {

bool use_all(const ReachedMemory& memory) {
  const ReachedMemory::Buffer &input = memory.input, &output = memory.output;
  bool all = input.address && use_own_memory(input.address, input.bytes);
  if (output.address && output.address != input.address) {
    all &= use_own_memory(output.address, output.bytes);
  }
  return all;
}

}  // namespace

void prepare_direct(Communicator& c, ChosenCall& call, const CallData& data, bool in_order) {
  if (!call.direct.wanted()) return;
  // Copies are Sumac's own memory, for this one call.
  call.direct.mapped = !data.has_copies() && use_all(reached_memory(c.rank, call.collective, call));
  call.direct.went = false;
  if (in_order && !c.direct_tries->is_due(call.collective, call.bytes())) {
    call.direct.algorithm = Algorithm::native;
  }
}

void note_direct(Communicator& c, const ChosenCall& call) {
  if (call.direct.wanted()) c.direct_tries->note(call.collective, call.bytes(), call.direct.went);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The calls that a run compares. In a run of a persistent call the blocking call is compared too,
// because a persistent call is only useful if it is faster.
#pragma once

#include <optional>
#include <string>

#include "call.h"
#include "options.h"
#include "world.h"

namespace sumac::bench {

struct Contender {
  Functions functions;
  Kind kind;
};

struct Contenders {
  Contender native;  // a blocking call where the MPI has no persistent one
  std::optional<Contender> sumac;
  std::optional<Contender> blocking;  // as called in this program
  std::string sumac_lacks;            // why active Sumac has no such call; else empty
};

// Collective. `active` is true when Sumac is active on all ranks. Throws Unavailable on all ranks
// when no contender has the call.
Contenders line_up(const Options& options, const World& world, const Buffers& buffers, bool active);

struct Unavailable {
  std::string what;
};

// Why the run is impossible: a root outside the communicator, an operation that is not defined for
// the type, a call that crashes this MPI by itself. Empty when it is possible.
std::string objection(const Options& options, int ranks, const std::string& library);

}  // namespace sumac::bench

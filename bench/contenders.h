// SPDX-License-Identifier: BSD-3-Clause
// Who takes part in a run. In one of a persistent call, the blocking call does too: a persistent
// one has nothing else to be there for than to be faster.
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
  Contender native;  // makes the blocking call where the MPI has no persistent one
  std::optional<Contender> sumac;
  std::optional<Contender> blocking;  // as called in this program
  std::string sumac_lacks;            // why Sumac, though active, takes no part; else empty
};

// Collective. `active`: Sumac is, on all ranks. Throws Unavailable, on all ranks, when nobody has
// the call.
Contenders line_up(const Options& options, const World& world, const Buffers& buffers, bool active);

struct Unavailable {
  std::string what;
};

}  // namespace sumac::bench

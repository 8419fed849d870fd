// SPDX-License-Identifier: BSD-3-Clause
// How long it takes until the collectives of a communicator are under way, with Sumac its set-up:
// what a program pays once for each communicator that it uses.
#pragma once

#include "world.h"

namespace sumac::bench {

// Collective. To be called before any call that is measured. The result is on rank 0.
SetUp set_up(const World& world);

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// Whether one process may read another's memory.
#pragma once

#include <string>

#include "world.h"

namespace sumac::bench {

// Collective. Rank 0 reads a word of rank 1. Returns, on rank 0, "ok" or why it could not.
std::string cross_attach(const World& world);

}  // namespace sumac::bench

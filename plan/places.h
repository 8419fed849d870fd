// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a hypothetical communicator, and where each would run.
#pragma once

#include <vector>

#include "hierarchy/hierarchy.h"
#include "plan/options.h"

namespace sumac::plan {

struct Places {
  std::vector<Place> of_ranks;
  bool oversubscribed = false;  // some node has more ranks than processors
  bool spare = false;           // every node has two processors a rank or more
};

// Throws Failure if the machine cannot be loaded.
Places make_places(const Options& options);

}  // namespace sumac::plan

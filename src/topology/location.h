// SPDX-License-Identifier: BSD-3-Clause
// Where a set of processors lies, from the files of /sys. No library for it: this runs inside
// strangers' processes, which may have another version of one.
#pragma once

#include "topology/hierarchy.h"
#include "topology/machine.h"

namespace sumac {

// The objects that hold all of `cpus`, by the files below `root`. An object's number is its lowest
// processor, those that the process may not use included: the same for all processes of the node.
Location location_of(const char* root, const CpuMask& cpus);

// Bytes of cache for each processor: the largest cache's, divided by those that share it; 0 where
// the files do not tell.
std::size_t cache_share(const char* root, const CpuMask& cpus);

}  // namespace sumac

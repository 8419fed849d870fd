// SPDX-License-Identifier: BSD-3-Clause
// Finds where a set of processors lies, from the files of /sys. Uses no library: this runs in other
// people's processes, which may contain another version of one.
#pragma once

#include "topology/hierarchy.h"
#include "topology/machine.h"

namespace sumac {

// The objects that hold all of `cpus`, from the files below `root`. An object's number is its
// lowest processor, whether or not the process may use that one: so all processes of the node
// agree.
Location location_of(const char* root, const CpuMask& cpus);

// Bytes of cache for each processor: the largest cache divided by the number of processors that
// share it; 0 where the files do not say.
std::size_t cache_share(const char* root, const CpuMask& cpus);

}  // namespace sumac

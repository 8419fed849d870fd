// SPDX-License-Identifier: BSD-3-Clause
// Finds where a set of processors lies, from the files of /sys. Uses no library: this runs in other
// people's processes, which may contain another version of one.
#pragma once

#include "machine/machine.h"
#include "machine/place.h"

namespace sumac {

// The objects that hold all of `cpus`, from the files below `root`. An object's number is its
// lowest processor, whether or not the process may use that one: so all processes of the node
// agree.
Location location_of(const char* root, const CpuMask& cpus);

// Bytes of cache for each processor: the largest cache divided by the number of processors that
// share it; 0 where the files do not say.
std::size_t cache_share(const char* root, const CpuMask& cpus);

// The location of this process, from /sys and its affinity mask. `root` is "" except in tests.
Location own_location(const char* root = "");

}  // namespace sumac

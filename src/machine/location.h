// SPDX-License-Identifier: BSD-3-Clause
// Finds where a set of processors lies, from the files of /sys. It uses no library, because it runs
// in other people's processes, which may contain another version of one.
#pragma once

#include "machine/machine.h"
#include "machine/place.h"

namespace sumac {

// Returns the objects that hold all of `cpus`, from the files below `root`. The number of an object
// is its lowest processor, even if the process may not use that one, so that all processes of the
// node agree.
Location location_of(const char* root, const CpuMask& cpus);

// Returns the bytes of cache for each processor: the largest cache divided by the number of
// processors that share it. Returns 0 if the files do not say.
std::size_t cache_share(const char* root, const CpuMask& cpus);

// Returns the location of this process, from /sys and its affinity mask. `root` is "" except in
// tests.
Location own_location(const char* root = "");

}  // namespace sumac

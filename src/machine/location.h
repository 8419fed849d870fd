// SPDX-License-Identifier: BSD-3-Clause
// Finds where a set of processors lies, from the files of /sys, for the ranks of a communicator to
// tell each other. It uses no library, because it runs
// in other people's processes, which may contain another version of one.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/machine.h"

namespace sumac {

// For each kind of object, the location has the number within its node of the smallest object that
// holds all processors the rank may use; -1 if there is none (not bound, or hidden). It is plain
// bytes.
struct Location {
  std::int32_t core = -1, l2 = -1, l3 = -1, numa = -1, package = -1;
};

// The ranks tell each other this about a rank's place, and the builder of hierarchies reads it. It
// is plain bytes.
struct Place {
  std::uint64_t node = 0;      // equal for ranks that share memory
  std::uint64_t host = 0;      // hash of the host's name, without its domain
  std::uint64_t attached = 0;  // slow ranks: hash of the name of their host; 0: none
  Location at;
  bool slow = false;
};

// Sets class and attachment of this process, and the hash of its host's name without the domain.
// `forced_class` is SUMAC_CLASS: 0 auto, 1 fast, 2 slow. `slow_hosts` is SUMAC_SLOW_HOSTS: patterns
// of host names (* and ?), separated by commas, each of which may name the host it belongs to:
// "mic*", "mic0@node7".
void classify(std::string_view slow_hosts, int forced_class, const char* host_name, Place& place);

// Returns the objects that hold all of `cpus`, from the files below `root`. The number of an object
// is its lowest processor, even if the process may not use that one, so that all processes of the
// node agree.
Location location_of(const char* root, const CpuMask& cpus);

// Returns the bytes of cache for each processor: the largest cache divided by the number of
// processors that share it. Returns 0 if the files do not say.
std::size_t cache_share(const char* root, const CpuMask& cpus);

}  // namespace sumac

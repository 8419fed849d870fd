// SPDX-License-Identifier: BSD-3-Clause
// Tests and tools look at machines other than this one. That needs hwloc, so it is not part of the
// library.
#pragma once

#include <hwloc.h>

#include <string>
#include <vector>

#include "hierarchy/hierarchy.h"

namespace sumac {

// Loads an XML file written by lstopo or, if there is no such file, a description such as
// "package:2 numa:2 l3:2 core:4 pu:2". Returns false, and the problem, if it is neither; otherwise
// the caller destroys the topology.
bool load_machine(const char* description_or_xml_file, hwloc_topology_t* topology,
                  std::string& problem);

// Returns the location of a rank that may use these processors: what location_of() would find on
// that machine.
Location location_in(hwloc_topology_t topology, hwloc_const_cpuset_t cpus);

// Returns the locations of the ranks of one node: rank i bound to core i mod cores, or all ranks
// free to use the whole machine.
std::vector<Location> locations_of(hwloc_topology_t topology, int ranks, bool bound);

}  // namespace sumac

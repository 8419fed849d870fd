// SPDX-License-Identifier: BSD-3-Clause
// Machines other than this one, for tests and tools. Needs hwloc, so it is no part of the library.
#pragma once

#include <hwloc.h>

#include <string>
#include <vector>

#include "topology/hierarchy.h"

namespace sumac {

// Loads an XML file as lstopo writes it, or, where there is no such file, a description as in
// "package:2 numa:2 l3:2 core:4 pu:2". False, and why, where it is neither; otherwise the caller
// destroys the topology.
bool load_machine(const char* description_or_xml_file, hwloc_topology_t* topology,
                  std::string& problem);

// Where a rank is that may use these processors: as location_of() would find on that machine.
Location location_in(hwloc_topology_t topology, hwloc_const_cpuset_t cpus);

// The ranks of one node: rank i bound to core i mod cores, or all free to use the whole machine.
std::vector<Location> locations_of(hwloc_topology_t topology, int ranks, bool bound);

}  // namespace sumac

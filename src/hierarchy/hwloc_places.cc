// SPDX-License-Identifier: BSD-3-Clause
#include "hierarchy/hwloc_places.h"

#include <unistd.h>

namespace sumac {
namespace {

// Processors that the process may not use count as the object's too, as in /sys.
int number_of(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t cpus) {
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, type, object))) {
    if (hwloc_bitmap_isincluded(cpus, object->complete_cpuset)) {
      return hwloc_bitmap_first(object->complete_cpuset);
    }
  }
  return -1;
}

bool fail(hwloc_topology_t topology, const char* machine, const char* why, std::string& problem) {
  problem = std::string(machine).append(": ").append(why);
  hwloc_topology_destroy(topology);
  return false;
}

}  // namespace

bool load_machine(const char* description_or_xml_file, hwloc_topology_t* topology,
                  std::string& problem) {
  const char* machine = description_or_xml_file;
  if (hwloc_topology_init(topology) != 0) {
    problem = "hwloc cannot be used";
    return false;
  }
  const bool is_file = access(machine, F_OK) == 0;
  if (is_file && hwloc_topology_set_xml(*topology, machine) != 0) {
    return fail(*topology, machine, "is not a machine as 'lstopo machine.xml' writes it", problem);
  }
  if (!is_file && hwloc_topology_set_synthetic(*topology, machine) != 0) {
    return fail(*topology, machine,
                "is neither a file nor a machine as in \"package:2 numa:2 l3:2 core:4 pu:2\"",
                problem);
  }
  if (hwloc_topology_load(*topology) != 0) {
    return fail(*topology, machine, "hwloc cannot load it", problem);
  }
  return true;
}

Location location_in(hwloc_topology_t topology, hwloc_const_cpuset_t cpus) {
  Location at;
  at.core = number_of(topology, HWLOC_OBJ_CORE, cpus);
  at.l2 = number_of(topology, HWLOC_OBJ_L2CACHE, cpus);
  at.l3 = number_of(topology, HWLOC_OBJ_L3CACHE, cpus);
  at.numa = number_of(topology, HWLOC_OBJ_NUMANODE, cpus);
  at.package = number_of(topology, HWLOC_OBJ_PACKAGE, cpus);
  return at;
}

std::vector<Location> locations_of(hwloc_topology_t topology, int ranks, bool bound) {
  // Cores may be hidden, processors never are.
  const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  const hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  const auto places = static_cast<unsigned>(hwloc_get_nbobjs_by_type(topology, type));
  std::vector<Location> locations;
  for (unsigned rank = 0; rank < static_cast<unsigned>(ranks); ++rank) {
    hwloc_obj_t object =
        bound ? hwloc_get_obj_by_type(topology, type, rank % places) : hwloc_get_root_obj(topology);
    locations.push_back(location_in(topology, object->cpuset));
  }
  return locations;
}

}  // namespace sumac

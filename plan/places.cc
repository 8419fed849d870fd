// SPDX-License-Identifier: BSD-3-Clause
#include "plan/explain.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>

#include "hierarchy/hwloc_places.h"

namespace sumac::plan {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology load(const std::string& machine) {
  if (machine.empty()) return nullptr;
  hwloc_topology_t topology = nullptr;
  std::string problem, description = machine;
  // hwloc needs processors in the description, even if there is one per core.
  const bool described = machine.find(':') != std::string::npos && access(machine.c_str(), F_OK);
  if (described && machine.find("pu:") == std::string::npos) description += " pu:1";
  if (!load_machine(description.c_str(), &topology, problem)) {
    throw Failure("machine", problem,
                  "give a description such as \"package:2 core:16\", or the file that 'lstopo "
                  "machine.xml' writes");
  }
  return Topology(topology);
}

// The first nodes have one rank more if the ranks cannot be divided evenly.
int node_of(int rank, const Options& options) {
  if (options.round_robin) return rank % options.nodes;
  const int each = options.ranks / options.nodes, more = options.ranks % options.nodes;
  const int in_larger = more * (each + 1);
  return rank < in_larger ? rank / (each + 1) : more + (rank - in_larger) / each;
}

}  // namespace

Places make_places(const Options& options) {
  const Topology machine = load(options.machine);
  std::vector<int> met(static_cast<std::size_t>(options.nodes));
  const int most = (options.ranks + options.nodes - 1) / options.nodes;
  std::vector<Location> locations(static_cast<std::size_t>(most));
  Places places;
  if (machine) {
    locations = locations_of(machine.get(), most, !options.unbound);
    const int processors = hwloc_get_nbobjs_by_type(machine.get(), HWLOC_OBJ_PU);
    places.oversubscribed = most > processors;
    places.spare = processors >= 2 * most;
  }
  for (int rank = 0; rank < options.ranks; ++rank) {
    const auto node = static_cast<std::size_t>(node_of(rank, options));
    Place place;
    place.node = place.host = node + 1;
    place.at = locations[static_cast<std::size_t>(met[node]++)];
    places.of_ranks.push_back(place);
  }
  for (int rank : options.slow) places.of_ranks[static_cast<std::size_t>(rank)].slow = true;
  return places;
}

}  // namespace sumac::plan

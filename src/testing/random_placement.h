// SPDX-License-Identifier: BSD-3-Clause
// Ranks on random clusters: nodes of equal or unequal size, in blocks, dealt in turn or in any
// order, with containers, slow ranks and bound ranks.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "team/placement.h"

namespace sumac::testing {

// Says how many of the last nodes are slow ones, and how many nodes a machine has.
struct RandomCluster {
  RandomCluster(std::mt19937& random, int ranks)
      : nodes(1 + static_cast<int>(random() % static_cast<unsigned>(std::min(ranks, 40)))),
        slow(random() % 4 ? 0 : static_cast<int>(random() % static_cast<unsigned>(nodes))),
        containers(random() % 4 ? 1 : 2),
        numas(static_cast<int>(random() % 3)),
        mixed(random() % 8 == 0) {}

  const int nodes, slow, containers, numas;
  const bool mixed;  // fast and slow ranks share nodes
};

// Returns a rank on a node of the cluster; `index` counts the ranks there.
inline PlacedRank rank_on(const RandomCluster& cluster, int node, int index) {
  PlacedRank rank;
  Place& place = rank.place;
  const auto named = [](int number) { return 0x9000u + 7u * static_cast<unsigned>(number); };
  place.node = named(node);
  place.host = named(1000 + node);
  rank.machine = named(2000 + node / cluster.containers);
  if (node >= cluster.nodes - cluster.slow) {
    place.slow = true;
    // Some are attached to a host that has ranks, some to one that is not there.
    place.attached = node % 3 ? named(1000 + node - (cluster.nodes - cluster.slow)) : 0;
  }
  place.slow |= cluster.mixed && index % 3 == 2;
  if (cluster.numas > 0) {
    place.at.core = index;
    place.at.l3 = index / 2;
    place.at.numa = index / 4 % cluster.numas;
    place.at.package = index % 5 ? 0 : -1;
  }
  rank.oversubscribed = node / cluster.containers % 5 == 4;
  rank.spare = !rank.oversubscribed && node / cluster.containers % 2 == 0;
  return rank;
}

inline std::vector<PlacedRank> random_placement(std::mt19937& random, int ranks) {
  const RandomCluster cluster(random, ranks);
  enum How { blocks, turns, unequal, anywhere };
  const auto how = static_cast<How>(random() % 4);
  std::vector<int> node_of;
  for (int r = 0; r < ranks; ++r) {
    const int in_blocks = static_cast<int>(static_cast<long>(r) * cluster.nodes / ranks);
    const auto any = static_cast<int>(random() % static_cast<unsigned>(cluster.nodes));
    node_of.push_back(how == blocks ? in_blocks : how == turns ? r % cluster.nodes : any);
  }
  if (how == unequal) std::sort(node_of.begin(), node_of.end());
  std::vector<int> on(static_cast<std::size_t>(cluster.nodes));
  std::vector<PlacedRank> all;
  for (const int node : node_of) {
    all.push_back(rank_on(cluster, node, on[static_cast<std::size_t>(node)]++));
  }
  return all;
}

}  // namespace sumac::testing

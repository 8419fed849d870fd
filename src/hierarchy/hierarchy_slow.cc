// SPDX-License-Identifier: BSD-3-Clause
// There are two kinds of ranks. The slow ranks of a node (a unit) belong to a node with fast ranks
// (their host).
#include <cstddef>
#include <map>

#include "hierarchy/hierarchy_build.h"

namespace sumac {
namespace {

// Returns, for each node that has slow ranks, the number of the node that is their host.
std::vector<int> hosts_of(const RankTable& ranks) {
  std::vector<int> first_slow(ranks.nodes(), -1), host(ranks.nodes(), -1), hosts;
  std::vector<bool> has_fast(ranks.nodes());
  for (int rank = ranks.size() - 1; rank >= 0; --rank) {
    if (ranks.slow(rank)) {
      first_slow[ranks.node[rank]] = rank;
    } else {
      has_fast[ranks.node[rank]] = true;
    }
  }
  std::map<std::uint64_t, int> by_name;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks.slow(rank)) by_name.try_emplace(ranks.places[rank].host, ranks.node[rank]);
  }
  for (int node = 0; node < ranks.nodes(); ++node) {
    if (has_fast[node]) hosts.push_back(node);
  }
  std::size_t dealt = 0;
  for (int node = 0; node < ranks.nodes(); ++node) {
    if (first_slow[node] < 0) continue;
    const std::uint64_t named = ranks.places[first_slow[node]].attached;
    const auto found = named ? by_name.find(named) : by_name.end();
    if (found != by_name.end()) {
      host[node] = found->second;
    } else {
      host[node] = has_fast[node] ? node : hosts[dealt++ % hosts.size()];
    }
  }
  return host;
}

// Leaves one slow rank of each unit active.
void add_slow_level(const RankTable& ranks, LevelBuilder& levels) {
  std::vector<GroupKey> keys;
  for (int rank : levels.active()) {
    GroupKey key;
    key.unit = ranks.unit(rank);
    if (!ranks.slow(rank)) key.with = rank;
    keys.push_back(key);
  }
  levels.add("slow", keys);
}

}  // namespace

void add_attach_levels(const RankTable& ranks, SlowDesign design, LevelBuilder& levels) {
  if (design == SlowDesign::basic) add_slow_level(ranks, levels);
  const std::vector<int> hosts = hosts_of(ranks);
  std::vector<std::vector<int>> fast_on(ranks.nodes());
  for (int rank : levels.active()) {
    if (!ranks.slow(rank)) fast_on[ranks.node[rank]].push_back(rank);
  }
  std::vector<std::size_t> attached(ranks.nodes());
  std::vector<GroupKey> keys;
  for (int rank : levels.active()) {
    GroupKey key;
    key.with = rank;
    if (ranks.slow(rank)) {
      const int host = hosts[ranks.node[rank]];
      const std::vector<int>& fast = fast_on[host];
      const std::size_t turn = design == SlowDesign::peer ? attached[host]++ : 0;
      key.with = fast[turn % fast.size()];
    }
    keys.push_back(key);
  }
  levels.add("attach", keys);
}

std::vector<std::vector<int>> ranks_of_nodes(const std::vector<Place>& places) {
  const RankTable ranks(places);
  const std::vector<int> hosts = ranks.two_classes ? hosts_of(ranks) : std::vector<int>();
  std::vector<std::vector<int>> of_nodes(ranks.nodes());
  for (const bool slow : {false, true}) {
    for (int rank = 0; rank < ranks.size(); ++rank) {
      if (ranks.slow(rank) != slow) continue;
      of_nodes[slow ? hosts[ranks.node[rank]] : ranks.node[rank]].push_back(rank);
    }
  }
  // Nodes that only have slow ranks have gone into their hosts.
  std::erase_if(of_nodes, [](const std::vector<int>& node) { return node.empty(); });
  return of_nodes;
}

}  // namespace sumac

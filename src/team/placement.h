// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks of a communicator are, in a form that does not grow with them: ranks that are
// placed node after node, or dealt to the nodes in turn, take a few words. Hierarchies are built
// from the places, which are made for that moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/rank_list.h"
#include "machine/location.h"

namespace sumac {

// This is known of one rank.
struct PlacedRank {
  Place place;
  std::uint64_t machine = 0;    // equal for ranks that share processors
  bool oversubscribed = false;  // its machine has more ranks than processors
  bool spare = false;           // its machine has two processors or more for each rank
};

class Placement {
 public:
  Placement() = default;
  explicit Placement(const std::vector<PlacedRank>& ranks);

  int ranks() const { return of_rank_.size(); }
  int nodes() const { return nodes_; }
  bool oversubscribed(int rank) const { return kind_of(rank).oversubscribed; }
  bool spare(int rank) const { return kind_of(rank).spare; }
  bool any_oversubscribed() const;
  bool all_spare() const;
  bool any_slow() const;
  // Return true if some ranks share a node, and if some machine has several nodes.
  bool shares_nodes() const { return ranks() > nodes_; }
  bool divides_machines() const;

  // Returns the place of each rank. Nodes and hosts have other numbers than the ranks told, but
  // equal ones where theirs were.
  std::vector<Place> places() const;
  // Return the ranks that are where `rank` is, in ascending order.
  RankList on_node_of(int rank) const;
  RankList on_machine_of(int rank) const;

  // Returns the placement as words, from which another rank makes it again.
  std::vector<std::int32_t> pack() const;
  static Placement unpack(const std::int32_t* words);

  // Returns the memory that it takes.
  std::size_t bytes() const;

 private:
  // The ranks of a site have one node, machine and host, and are attached alike. Mostly a site is a
  // node.
  struct Site {
    int node, machine, host, attached;
  };
  // Many ranks are of one kind: those in the same place of nodes that are alike.
  struct Kind {
    Location at;
    std::int32_t slow, oversubscribed, spare;
  };

  int site_of(int rank) const { return of_rank_[rank] / static_cast<int>(kinds_.size()); }
  const Kind& kind_of(int rank) const {
    return kinds_[static_cast<std::size_t>(of_rank_[rank]) % kinds_.size()];
  }
  // Returns the ranks of the sites that `numbers` has the same number for as for the site of
  // `rank`.
  RankList beside(int rank, const RankList& numbers) const;

  RankList of_rank_;  // the rank's site, times all kinds, and its kind
  RankList node_, machine_, host_,
      attached_;  // indexed by site: numbers from 0 in the order of ranks
  std::vector<Kind> kinds_;
  int nodes_ = 0;
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "team/placement.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

namespace sumac {
namespace {

// Numbers values from 0 on in the order in which they come.
template <class Value>
class Numbering {
 public:
  int of(const Value& value) { return numbers_.try_emplace(value, count()).first->second; }
  int count() const { return static_cast<int>(numbers_.size()); }

 private:
  std::map<Value, int> numbers_;
};

using KindKey = std::tuple<int, int, int, int, int, bool, bool, bool>;

// Without `exact`, ranks are told apart by class and processors alone.
KindKey key_of(const PlacedRank& rank, bool exact) {
  const Location at = exact ? rank.place.at : Location();
  return {at.core,   at.l2, at.l3, at.numa, at.package, rank.place.slow, rank.oversubscribed,
          rank.spare};
}

}  // namespace

Placement::Placement(const std::vector<PlacedRank>& ranks) {
  Numbering<std::uint64_t> nodes, machines, hosts;
  Numbering<std::tuple<int, int, int, int>> sites;
  Numbering<KindKey> kinds;
  hosts.of(0);  // which stands for no host, too
  std::vector<int> site_of;
  for (const PlacedRank& rank : ranks) {
    const Place& place = rank.place;
    const Site site{nodes.of(place.node), machines.of(rank.machine), hosts.of(place.host),
                    hosts.of(place.attached)};
    const int before = sites.count();
    site_of.push_back(sites.of({site.node, site.machine, site.host, site.attached}));
    kinds.of(key_of(rank, true));
    if (sites.count() == before) continue;
    node_.push_back(site.node);
    machine_.push_back(site.machine);
    host_.push_back(site.host);
    attached_.push_back(site.attached);
  }
  nodes_ = nodes.count();
  // If there are too many kinds to count, nothing is known of the objects of the machines.
  const bool exact = sites.count() == 0 || kinds.count() <= INT_MAX / sites.count();
  if (!exact) {
    kinds = {};
    for (const PlacedRank& rank : ranks) kinds.of(key_of(rank, false));
  }
  kinds_.resize(static_cast<std::size_t>(kinds.count()));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const PlacedRank& rank = ranks[r];
    const int kind = kinds.of(key_of(rank, exact));
    of_rank_.push_back(site_of[r] * kinds.count() + kind);
    kinds_[static_cast<std::size_t>(kind)] = {exact ? rank.place.at : Location(), rank.place.slow,
                                              rank.oversubscribed, rank.spare};
  }
}

bool Placement::any_oversubscribed() const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [](const Kind& kind) { return kind.oversubscribed != 0; });
}

bool Placement::all_spare() const {
  return std::all_of(kinds_.begin(), kinds_.end(),
                     [](const Kind& kind) { return kind.spare != 0; });
}

bool Placement::any_slow() const {
  return std::any_of(kinds_.begin(), kinds_.end(), [](const Kind& kind) { return kind.slow != 0; });
}

bool Placement::divides_machines() const {
  std::map<int, int> node_of;  // indexed by machine
  for (int site = 0; site < node_.size(); ++site) {
    if (node_of.try_emplace(machine_[site], node_[site]).first->second != node_[site]) return true;
  }
  return false;
}

std::vector<Place> Placement::places() const {
  std::vector<Place> places;
  places.reserve(static_cast<std::size_t>(ranks()));
  for (const int value : of_rank_) {
    const auto [site, number] = std::div(value, static_cast<int>(kinds_.size()));
    const Kind& kind = kinds_[static_cast<std::size_t>(number)];
    Place& place = places.emplace_back();
    place.node = static_cast<std::uint64_t>(node_[site]) + 1;
    place.host = static_cast<std::uint64_t>(host_[site]);
    place.attached = static_cast<std::uint64_t>(attached_[site]);
    place.at = kind.at;
    place.slow = kind.slow != 0;
  }
  return places;
}

RankList Placement::beside(int rank, const RankList& numbers) const {
  const int own = numbers[site_of(rank)], kinds = static_cast<int>(kinds_.size());
  RankList list;
  int other = 0;
  for (const int value : of_rank_) {
    if (numbers[value / kinds] == own) list.push_back(other);
    ++other;
  }
  return list;
}

RankList Placement::on_node_of(int rank) const { return beside(rank, node_); }
RankList Placement::on_machine_of(int rank) const { return beside(rank, machine_); }

std::vector<std::int32_t> Placement::pack() const {
  std::vector<std::int32_t> words{nodes_, static_cast<std::int32_t>(kinds_.size())};
  constexpr std::size_t kWords = sizeof(Kind) / sizeof(std::int32_t);
  static_assert(kWords * sizeof(std::int32_t) == sizeof(Kind));
  words.resize(words.size() + kinds_.size() * kWords);
  std::memcpy(words.data() + 2, kinds_.data(), kinds_.size() * sizeof(Kind));
  for (const RankList* list : {&of_rank_, &node_, &machine_, &host_, &attached_}) list->pack(words);
  return words;
}

Placement Placement::unpack(const std::int32_t* words) {
  Placement made;
  made.nodes_ = *words++;
  made.kinds_.resize(static_cast<std::size_t>(*words++));
  std::memcpy(static_cast<void*>(made.kinds_.data()), words, made.kinds_.size() * sizeof(Kind));
  words += made.kinds_.size() * sizeof(Kind) / sizeof(std::int32_t);
  for (RankList* list :
       {&made.of_rank_, &made.node_, &made.machine_, &made.host_, &made.attached_}) {
    *list = RankList::unpack(words);
  }
  return made;
}

std::size_t Placement::bytes() const {
  std::size_t sum = sizeof *this + kinds_.capacity() * sizeof(Kind);
  for (const RankList* list : {&of_rank_, &node_, &machine_, &host_, &attached_}) {
    sum += list->bytes();
  }
  return sum;
}

}  // namespace sumac

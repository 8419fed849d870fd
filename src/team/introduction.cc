// SPDX-License-Identifier: BSD-3-Clause
#include "team/introduction.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace sumac {
namespace {

constexpr std::uint64_t bit(Fact fact) { return std::uint64_t{1} << static_cast<int>(fact); }

bool all_tell_all(const Team& team) {
  return static_cast<std::uint64_t>(team.size) <= team.context.options.tell_all;
}

First first_of(const Hello& hello) {
  return {hello.options, hello.types, hello.process, hello.serial, 0};
}

std::uint64_t hash_of_members(const std::vector<Brief>& briefs) {
  std::uint64_t hash = SUMAC_HASH_START;
  for (const Brief& brief : briefs) hash = hash_value(brief.process, hash);
  return hash;
}

// Returns true, and the reason, if a rank keeps the others from being served with rank 0.
bool is_odd(const Hello& hello, const First& first, Reason& reason) {
  if (hello.options != first.options) {
    reason = Reason::options_differ;
  } else if (hello.types != first.types) {
    reason = Reason::types_differ;
  } else if (hello.accelerator) {
    reason = Reason::device;
  } else {
    return false;
  }
  return true;
}

// Rank 0 sends this to all. Few placements need a second message.
struct Head {
  static constexpr std::size_t kWords = 240;

  First first;
  std::uint64_t count;  // words of the placement
  std::int32_t words[kWords];
};

}  // namespace

bool gather_among(Team& team, const RankList& members, const void* own, void* all,
                  std::size_t bytes) {
  if (members.size() == team.size) {
    team.oob.all_gather(own, all, bytes);
  } else if (all_tell_all(team)) {
    std::vector<std::byte> of_team(static_cast<std::size_t>(team.size) * bytes);
    team.oob.all_gather(own, of_team.data(), bytes);
    auto* to = static_cast<std::byte*>(all);
    for (const int rank : members) {
      std::memcpy(to, of_team.data() + static_cast<std::size_t>(rank) * bytes, bytes);
      to += bytes;
    }
  } else {
    return team.oob.all_gather_among(members, own, all, bytes);
  }
  return true;
}

Introduction::Introduction(Team& team, const Hello& own)
    : team_(team), own_(own), facts_(facts_of(own)) {
  if (all_tell_all(team)) {
    gather_all();
    for (const Hello& hello : hellos_) {
      const Facts its = facts_of(hello);
      for (std::size_t i = 0; i < facts_.size(); ++i) facts_[i] &= its[i];
    }
  } else {
    team.oob.all_and(facts_.data(), facts_.size());
  }
  note_same();
}

Introduction::Facts Introduction::facts_of(const Hello& hello) const {
  std::uint64_t facts = 0;
  const auto note = [&](Fact fact, bool holds) { facts |= holds ? bit(fact) : 0; };
  note(Fact::no_device, !hello.accelerator);
  note(Fact::no_runtime, !hello.runtimes);
  note(Fact::has_world, hello.world != 0);
  note(Fact::is_whole_job, hello.world == team_.size);
  note(Fact::reports_all, hello.gathers != 0);
  note(Fact::progresses_messages, hello.progresses_messages != 0);
  note(Fact::one_caller, hello.one_caller != 0);
  note(Fact::may_make_messages, hello.messengers < kMostMessengers);
  note(Fact::may_keep_messages, hello.messengers < kMostMessengers / 2);
  note(Fact::unknown_in_job, hello.job_rank < 0);
  note(Fact::not_first_in_job, hello.job_rank != 0);
  return {facts,          hello.options,   ~hello.options, hello.types,   ~hello.types,
          hello.warnings, ~hello.warnings, hello.machine,  ~hello.machine};
}

void Introduction::note_same() {
  constexpr Fact kFacts[kCompared] = {Fact::same_options, Fact::same_types, Fact::same_warnings,
                                      Fact::same_machine};
  for (std::size_t i = 0; i < kCompared; ++i) {
    const bool same = (facts_[1 + 2 * i] | facts_[2 + 2 * i]) == ~std::uint64_t{0};
    if (same) facts_[0] |= bit(kFacts[i]);
  }
}

void Introduction::gather_all() {
  hellos_.resize(static_cast<std::size_t>(team_.size));
  team_.oob.all_gather(&own_, hellos_.data(), sizeof own_);
  machine_ = RankList::first(team_.size);
  first_ = first_of(hellos_[0]);
}

int Introduction::find_odd_rank(Reason& reason) {
  if (all(Fact::same_options) && all(Fact::same_types) && all(Fact::no_device)) return -1;
  for (std::size_t r = 0; r < hellos_.size(); ++r) {
    if (is_odd(hellos_[r], first_, reason)) return static_cast<int>(r);
  }
  first_ = first_of(own_);
  team_.oob.broadcast(&first_, sizeof first_);
  // The greatest of these words is that of the lowest rank.
  constexpr std::uint64_t kReasons = 256;
  static_assert(kNumReasons <= kReasons);
  std::uint64_t word = 0;
  if (is_odd(own_, first_, reason)) {
    word =
        ~(static_cast<std::uint64_t>(team_.rank) * kReasons + static_cast<std::uint64_t>(reason));
  }
  team_.oob.all_max(&word, 1);
  reason = static_cast<Reason>(~word % kReasons);
  return static_cast<int>(~word / kReasons);
}

bool Introduction::meet() {
  if (hellos_.empty() && all(Fact::same_machine)) gather_all();
  if (hellos_.empty()) {
    learn_places();
    return learn_neighbours();
  }
  const std::vector<Brief> briefs(hellos_.begin(), hellos_.end());
  first_.members = hash_of_members(briefs);
  placement_ = placement_of(briefs);
  machine_ = placement_.on_machine_of(team_.rank);
  std::vector<Hello> here;
  for (const int rank : machine_) here.push_back(hellos_[static_cast<std::size_t>(rank)]);
  hellos_ = std::move(here);
  return true;
}

void Introduction::learn_places() {
  const Brief own = own_;
  Head head{};
  std::vector<std::int32_t> words;
  {
    std::vector<Brief> briefs(team_.rank == 0 ? static_cast<std::size_t>(team_.size) : 0);
    team_.oob.gather(&own, briefs.data(), sizeof own);
    if (team_.rank == 0) {
      head.first = first_of(own_);
      head.first.members = hash_of_members(briefs);
      words = placement_of(briefs).pack();
      head.count = words.size();
      std::copy_n(words.begin(), std::min(words.size(), Head::kWords), head.words);
    }
  }
  team_.oob.broadcast(&head, sizeof head);
  first_ = head.first;
  words.resize(head.count);
  const std::size_t sent = std::min<std::size_t>(head.count, Head::kWords);
  std::copy_n(head.words, sent, words.begin());
  if (sent < head.count) {
    team_.oob.broadcast(words.data() + sent, (head.count - sent) * sizeof words[0]);
  }
  placement_ = Placement::unpack(words.data());
}

// All agree on whether it worked, since it makes a communicator of the MPI.
bool Introduction::learn_neighbours() {
  machine_ = placement_.on_machine_of(team_.rank);
  hellos_.resize(static_cast<std::size_t>(machine_.size()));
  std::uint64_t worked = gather_among(team_, machine_, &own_, hellos_.data(), sizeof own_);
  team_.oob.all_and(&worked, 1);
  return worked != 0;
}

std::size_t Introduction::own_place_on_machine() const {
  return static_cast<std::size_t>(machine_.index_of(team_.rank));
}

std::vector<Hello> Introduction::on_node() const {
  std::vector<Hello> list;
  for (const int rank : placement_.on_node_of(team_.rank)) {
    list.push_back(hellos_[static_cast<std::size_t>(machine_.index_of(rank))]);
  }
  return list;
}

}  // namespace sumac

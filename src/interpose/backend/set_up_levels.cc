// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies of a communicator: built by every rank from what all know, then given memory and
// messages. Each step is collective, and one agreement at the end tells whether all went well.
#include <algorithm>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "interpose/backend/messages.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/set_up.h"
#include "interpose/backend/trace_plans.h"
#include "observe/log.h"

namespace sumac {
namespace {

// One hierarchy, for the collectives that ask for the same.
struct Wanted {
  std::string_view text;
  Hierarchy hierarchy;
  std::vector<Collective> collectives;
};

bool is_flat(const Hierarchy& hierarchy) {
  return hierarchy.levels.size() == 1 && hierarchy.levels[0].groups.size() == 1 &&
         hierarchy.levels[0].groups[0].one_node;
}

bool needs_messages(const Hierarchy& hierarchy) {
  for (const HierarchyLevel& level : hierarchy.levels) {
    for (const Group& group : level.groups) {
      if (!group.one_node && group.members.size() > 1) return true;
    }
  }
  return false;
}

// Below the last level an all-reduce is a reduction up and a broadcast down.
template <class CapabilitiesOf>
void add_parts(const Hierarchy& hierarchy, Collective collective, CapabilitiesOf capabilities_of,
               std::vector<AskedGroup>& parts) {
  for (const HierarchyLevel& level : hierarchy.levels) {
    const bool last = &level == &hierarchy.levels.back();
    for (const Group& group : level.groups) {
      if (group.members.size() == 1) continue;
      const Capabilities capabilities =
          capabilities_of(static_cast<int>(group.members.size()), group.members[0], group.one_node);
      if (collective != Collective::allreduce || last) {
        parts.push_back({collective, capabilities});
      } else {
        parts.push_back({Collective::reduce, capabilities});
        parts.push_back({Collective::bcast, capabilities});
      }
    }
  }
}

// What all ranks of a communicator know, and what is chosen from it.
class LevelsSetUp {
 public:
  LevelsSetUp(Communicator& c, const std::vector<Hello>& hellos, Wishes& wishes)
      : c_(c), hellos_(hellos), wishes_(wishes) {
    std::set<std::uint64_t> machines, nodes;
    for (int r = 0; r < c.size; ++r) {
      const Hello& hello = hellos[static_cast<std::size_t>(r)];
      nodes.insert(hello.place.node);
      any_slow_ |= hello.place.slow;
      if (machines.insert(hello.machine).second) crowded_ |= is_oversubscribed(hellos, r);
    }
    nodes_ = static_cast<int>(nodes.size());
  }

  // False, and handed down, where there is no way to make what is needed.
  bool choose();
  // False, and handed down, where memory or messages could not be had everywhere.
  bool make();
  // The hierarchy of a collective once more, for one operation; null, on all ranks, where there is
  // no memory for it.
  std::unique_ptr<LevelsRun> make_own(Collective collective, int first_tag);

 private:
  void want();
  // A hierarchy that was asked for and leaves the whole job one group.
  void tell_if_flat() const;
  // By its text, or automatically where that does not fit.
  void build(Wanted& wanted);
  // Collective: blocks for all groups of a hierarchy's levels that share memory.
  void make_blocks(const Hierarchy& hierarchy, std::vector<LevelGroup>& levels);
  void make_block(const HierarchyLevel& level, LevelGroup* own);
  std::shared_ptr<Messages> make_messages(const Wanted& wanted);
  // One that an earlier communicator of the same ranks had, where it is idle on all of them.
  std::shared_ptr<Messages> take_idle_messages(std::uint64_t purpose);
  std::uint64_t purpose_of(const Wanted& wanted) const;
  // Agrees on what worked; false where memory or messages are missing.
  bool all_worked();
  std::unique_ptr<LevelsRun> make_run(const Hierarchy& hierarchy, std::vector<LevelGroup> groups,
                                      std::shared_ptr<Messages> messages, int first_tag);
  Capabilities capabilities_of(int ranks, int member, bool shared) const;
  PlanTable plan_of(int ranks, int member, bool shared) const;
  Capabilities capabilities_of_all(const Hierarchy& hierarchy) const;
  PlanTable plan_of_all(const Hierarchy& hierarchy) const;
  // Whether the ranks get what somebody asked for.
  void judge_wishes();
  std::vector<AskedGroup> parts() const;
  bool has_equal_nodes(const Hierarchy& hierarchy) const;
  Counterparts counterparts(const Hierarchy& hierarchy, int place) const;
  // Whether all ranks of this node can be reached.
  bool watch_own_node();
  std::unique_ptr<PeerMemory> lowest_memory(const LevelGroup& lowest) const;

  Communicator& c_;
  const std::vector<Hello>& hellos_;
  Wishes& wishes_;
  bool any_slow_ = false, crowded_ = false, over_budget_ = false;
  int nodes_ = 1;
  std::vector<Wanted> wanted_;
  std::vector<Ticket> tickets_;  // of the blocks this rank has accepted
  std::vector<Ticket> own_;      // of which it is the leader
  static constexpr int kMust = kMapped | kMessages;
  std::size_t budget_ = options.shm_budget;
  int worked_ = kMust, agreed_ = 0;
  bool single_copy_ = false;  // agreed: everybody reaches all ranks of its node
};

void LevelsSetUp::build(Wanted& wanted) {
  HierarchySpec spec, automatic;
  automatic.automatic = true;
  std::string problem;
  std::vector<Place> places;
  const auto design = static_cast<SlowDesign>(options.slow_design);
  for (const Hello& hello : hellos_) places.push_back(hello.place);
  if (parse_hierarchy(wanted.text, spec, problem) &&
      build_hierarchy(spec, places, design, wanted.hierarchy, problem)) {
    return;
  }
  // A hierarchy meant for all ranks need not fit those of every communicator.
  static std::atomic<bool> told;
  if (c_.rank == 0 && !told.exchange(true)) {
    log(Level::warn,
        "warning[hierarchy]: %.*s does not fit a communicator of %d ranks: %s; using auto",
        static_cast<int>(wanted.text.size()), wanted.text.data(), c_.size, problem.c_str());
  }
  build_hierarchy(automatic, places, design, wanted.hierarchy, problem);
}

void LevelsSetUp::tell_if_flat() const {
  static std::atomic<bool> told;
  int size = 0;
  if (world_exists()) mpi.Comm_size(MPI_COMM_WORLD, &size);
  for (const Wanted& wanted : wanted_) {
    const bool asked = wanted.text != "auto" && wanted.text != "flat";
    if (!asked || c_.size != size || !is_flat(wanted.hierarchy)) continue;
    if (told.exchange(true)) return;
    log(Level::warn,
        "warning[hierarchy]: %.*s does not divide the %d ranks of the job, all on one node; they "
        "are served as one group",
        static_cast<int>(wanted.text.size()), wanted.text.data(), c_.size);
  }
}

void LevelsSetUp::want() {
  std::string_view option = options.hierarchy;
  if (!c_.hierarchy.empty()) option = c_.hierarchy;
  for (const CollectiveInfo& info : kCollectives) {
    const Collective collective = info.collective;
    if (!has_levels(collective)) continue;
    const std::string_view text = hierarchy_for(option, name_of(collective));
    auto same = std::find_if(wanted_.begin(), wanted_.end(),
                             [&](const Wanted& wanted) { return wanted.text == text; });
    if (same == wanted_.end()) {
      wanted_.push_back({text, {}, {}});
      same = wanted_.end() - 1;
      build(*same);
    }
    same->collectives.push_back(collective);
  }
  tell_if_flat();
  std::erase_if(wanted_, [](const Wanted& wanted) { return is_flat(wanted.hierarchy); });
}

bool LevelsSetUp::choose() {
  want();
  const bool messages = std::any_of(wanted_.begin(), wanted_.end(), [](const Wanted& wanted) {
    return needs_messages(wanted.hierarchy);
  });
  const bool too_many = std::any_of(hellos_.begin(), hellos_.end(), [](const Hello& hello) {
    return hello.messengers >= MpiMessages::kMost;
  });
  if (messages && too_many) hand_down_for_good(c_, Reason::messages);
  return !(messages && too_many);
}

void LevelsSetUp::make_block(const HierarchyLevel& level, LevelGroup* own) {
  Ticket ticket;
  const bool shares = own && own->shared && own->size > 1;
  const bool leads = shares && own->rank == own->leader;
  if (leads) {
    std::vector<std::uint64_t> members;
    for (int r : own->members) members.push_back(hellos_[static_cast<std::size_t>(r)].process);
    ticket = arena().offer(own->size, 2, members.data(), budget_);
  }
  std::vector<Ticket> all(hellos_.size());
  mpi.Allgather(&ticket, static_cast<int>(sizeof ticket), MPI_BYTE, all.data(),
                static_cast<int>(sizeof ticket), MPI_BYTE, c_.comm);
  for (const Group& group : level.groups) {
    const int leader = group.members[static_cast<std::size_t>(group.leader)];
    over_budget_ |= all[static_cast<std::size_t>(leader)].offer == Offer::over_budget;
  }
  if (!shares) return;
  const Ticket& offered =
      all[static_cast<std::size_t>(own->members[static_cast<std::size_t>(own->leader)])];
  own->block = arena().accept(offered, own->rank);
  if (offered.id) tickets_.push_back(offered);
  if (leads && offered.id) own_.push_back(offered);
  if (!own->block) {
    worked_ &= ~kMapped;
    return;
  }
  own->up = ShmGroup(own->block, offered.layout, own->rank, 0);
  own->down = ShmGroup(own->block, offered.layout, own->rank, 1);
}

void LevelsSetUp::make_blocks(const Hierarchy& hierarchy, std::vector<LevelGroup>& levels) {
  for (std::size_t l = 0; l < hierarchy.levels.size(); ++l) {
    make_block(hierarchy.levels[l], l < levels.size() ? &levels[l] : nullptr);
  }
}

std::uint64_t LevelsSetUp::purpose_of(const Wanted& wanted) const {
  const std::string_view ranks(reinterpret_cast<const char*>(c_.processes.data()),
                               c_.processes.size() * sizeof c_.processes[0]);
  return hash_text(wanted.text, hash_text(ranks));
}

std::shared_ptr<Messages> LevelsSetUp::take_idle_messages(std::uint64_t purpose) {
  std::uint64_t id = c_.rank == 0 ? MpiMessages::find_idle(purpose) : 0;
  mpi.Bcast(&id, static_cast<int>(sizeof id), MPI_BYTE, 0, c_.comm);
  if (id == 0 || !agree(c_, MpiMessages::is_idle(id))) return nullptr;
  return MpiMessages::take_idle(id);
}

std::shared_ptr<Messages> LevelsSetUp::make_messages(const Wanted& wanted) {
  const Hierarchy& hierarchy = wanted.hierarchy;
  if (!needs_messages(hierarchy)) return nullptr;
  const std::uint64_t purpose = purpose_of(wanted);
  if (auto idle = take_idle_messages(purpose)) return idle;
  MPI_Comm all = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
  bool made = make_inner(c_.comm, 0, c_.rank, all);
  const std::vector<int>& top = hierarchy.levels.back().groups[0].members;
  const int ranks = static_cast<int>(top.size());
  const bool shared = hierarchy.levels.back().groups[0].one_node;
  if (plan_of(ranks, top[0], shared).uses(Algorithm::allreduce_native)) {
    const bool in = std::binary_search(top.begin(), top.end(), c_.rank);
    made &= make_inner(c_.comm, in ? 0 : MPI_UNDEFINED, c_.rank, leaders);
  }
  if (!made) worked_ &= ~kMessages;
  if (all == MPI_COMM_NULL) return nullptr;
  // Unique, for each communicator takes a number of its own and has each hierarchy once.
  const std::uint64_t id = hash_text(wanted.text, c_.trace_group);
  return std::make_shared<MpiMessages>(all, leaders, purpose, id ? id : 1);
}

Capabilities LevelsSetUp::capabilities_of(int ranks, int member, bool shared) const {
  Capabilities capabilities;
  capabilities.ranks = ranks;
  capabilities.over = shared ? Over::shm : Over::p2p;
  capabilities.oversubscribed = shared ? is_oversubscribed(hellos_, member) : crowded_;
  capabilities.within_levels = true;
  capabilities.family = kFamily;
  return capabilities;
}

PlanTable LevelsSetUp::plan_of(int ranks, int member, bool shared) const {
  return PlanTable(user_rules(), capabilities_of(ranks, member, shared), options.algo);
}

bool LevelsSetUp::has_equal_nodes(const Hierarchy& hierarchy) const {
  if (hierarchy.levels.size() != 2 || any_slow_ || hierarchy.levels[1].groups[0].one_node) {
    return false;
  }
  const std::vector<Group>& groups = hierarchy.levels[0].groups;
  // Every rank of a node has a cache line in the slots of all others, be they small on some hosts.
  if (groups[0].members.size() > kSmallSlot / kCacheLine) return false;
  return std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    return group.one_node && group.members.size() == groups[0].members.size();
  });
}

Capabilities LevelsSetUp::capabilities_of_all(const Hierarchy& hierarchy) const {
  Capabilities capabilities;
  capabilities.ranks = c_.size;
  capabilities.over = Over::levels;
  capabilities.family = kFamily;
  capabilities.oversubscribed = crowded_;
  capabilities.nodes = nodes_;
  capabilities.single_copy = single_copy_;
  capabilities.equal_nodes = has_equal_nodes(hierarchy);
  return capabilities;
}

PlanTable LevelsSetUp::plan_of_all(const Hierarchy& hierarchy) const {
  return PlanTable(user_rules(), capabilities_of_all(hierarchy), options.algo);
}

std::vector<AskedGroup> LevelsSetUp::parts() const {
  std::vector<AskedGroup> parts;
  const auto capabilities = [&](int ranks, int member, bool shared) {
    return capabilities_of(ranks, member, shared);
  };
  for (const Wanted& wanted : wanted_) {
    for (const Collective collective : wanted.collectives) {
      if (collective == Collective::barrier) continue;  // an all-reduce of nothing
      add_parts(wanted.hierarchy, collective, capabilities, parts);
    }
  }
  return parts;
}

void LevelsSetUp::judge_wishes() {
  if (wishes_.forced.empty() && user_rules().rules.empty()) return;
  const std::vector<AskedGroup> all = parts();
  for (const AskedGroup& part : all) wishes_.note_rules(part.capabilities);
  for (const Wanted& wanted : wanted_) {
    const Capabilities whole = capabilities_of_all(wanted.hierarchy);
    const std::vector<Collective>& own = wanted.collectives;
    wishes_.note_rules(whole);
    for (const Algorithm algorithm : wishes_.forced) {
      const AlgorithmInfo& info = info_of(algorithm);
      if (std::find(own.begin(), own.end(), info.collective) == own.end()) continue;
      wishes_.note(algorithm, over_of(info.needs) == Over::levels
                                  ? why_not(algorithm, whole)
                                  : why_in_no_group(algorithm, all));
    }
  }
}

Counterparts LevelsSetUp::counterparts(const Hierarchy& hierarchy, int place) const {
  Counterparts peers;
  if (!has_equal_nodes(hierarchy)) return peers;
  for (const Group& group : hierarchy.levels[0].groups) {
    peers.ranks.push_back(group.members[static_cast<std::size_t>(place)]);
  }
  peers.plans = plan_of(static_cast<int>(peers.ranks.size()), peers.ranks[0], false);
  peers.own = static_cast<int>(std::find(peers.ranks.begin(), peers.ranks.end(), c_.rank) -
                               peers.ranks.begin());
  return peers;
}

// Ranks whose end this one can see: of its own node, as attach proves (process numbers mean
// something only where all see each other's).
bool LevelsSetUp::watch_own_node() {
  const std::uint64_t node = hellos_[static_cast<std::size_t>(c_.rank)].place.node;
  std::vector<pid_t> pids;
  for (const Hello& hello : hellos_) pids.push_back(hello.pid);
  CrossMemoryAttach attach(pids.data(), c_.size);
  c_.pids.assign(hellos_.size(), 0);
  bool all = options.cma == 0;
  for (int r = 0; r < c_.size && options.cma == 0; ++r) {
    const Hello& hello = hellos_[static_cast<std::size_t>(r)];
    if (r == c_.rank || hello.place.node != node) continue;
    const bool works = attach_works(attach, r, hello.probe);
    if (works) c_.pids[static_cast<std::size_t>(r)] = hello.pid;
    all &= works;
  }
  return all;
}

std::unique_ptr<PeerMemory> LevelsSetUp::lowest_memory(const LevelGroup& lowest) const {
  if (!lowest.shared || lowest.size == 1) return nullptr;
  std::vector<pid_t> pids;
  for (int r : lowest.members) pids.push_back(hellos_[static_cast<std::size_t>(r)].pid);
  return std::make_unique<CrossMemoryAttach>(pids.data(), lowest.size);
}

bool LevelsSetUp::all_worked() {
  agreed_ = agree(c_, worked_ | (watch_own_node() ? kAttach : 0));
  single_copy_ = agreed_ & kAttach;
  if ((agreed_ & kMust) != kMust) {
    for (const Ticket& ticket : tickets_) arena().abandon(ticket);
    return false;
  }
  for (const Ticket& ticket : own_) arena().confirm(ticket);
  return true;
}

std::unique_ptr<LevelsRun> LevelsSetUp::make_run(const Hierarchy& hierarchy,
                                                 std::vector<LevelGroup> groups,
                                                 std::shared_ptr<Messages> messages,
                                                 int first_tag) {
  Levels own;
  for (const LevelGroup& level : groups) {
    own.plans.push_back(plan_of(level.size, level.members[0], level.shared));
    if (level.block) c_.blocks.push_back(level.block);
  }
  if (single_copy_) own.lowest = lowest_memory(groups[0]);
  own.counterparts = counterparts(hierarchy, groups[0].rank);
  own.groups = std::move(groups);
  own.depth = hierarchy.levels.size();
  own.whole = plan_of_all(hierarchy);
  own.messages = std::move(messages);
  own.first_tag = first_tag;
  own.in_order = first_tag == 0;
  return std::make_unique<LevelsRun>(std::move(own));
}

bool LevelsSetUp::make() {
  std::vector<std::vector<LevelGroup>> levels;
  std::vector<std::shared_ptr<Messages>> messages;
  for (const Wanted& wanted : wanted_) {
    levels.push_back(levels_of(wanted.hierarchy, c_.rank, c_.size));
    make_blocks(wanted.hierarchy, levels.back());
    messages.push_back(make_messages(wanted));
  }
  if (!all_worked()) {
    hand_down_for_good(c_, over_budget_               ? Reason::budget
                           : (agreed_ & kMapped) == 0 ? Reason::shared_memory
                                                      : Reason::messages);
    return false;
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const Hierarchy& hierarchy = wanted_[i].hierarchy;
    c_.levels.push_back(make_run(hierarchy, std::move(levels[i]), std::move(messages[i]), 0));
    for (const Collective collective : wanted_[i].collectives) {
      c_.levels_for[static_cast<int>(collective)] = c_.levels.back().get();
      trace_plans(c_, collective, c_.levels.back()->plans(), "a hierarchy");
    }
  }
  judge_wishes();
  return true;
}

std::unique_ptr<LevelsRun> LevelsSetUp::make_own(Collective collective, int first_tag) {
  want();
  budget_ = budget_of_own_ranks();
  const auto wanted = std::find_if(wanted_.begin(), wanted_.end(), [&](const Wanted& each) {
    const std::vector<Collective>& all = each.collectives;
    return std::find(all.begin(), all.end(), collective) != all.end();
  });
  std::vector<LevelGroup> groups = levels_of(wanted->hierarchy, c_.rank, c_.size);
  make_blocks(wanted->hierarchy, groups);
  if (!all_worked()) return nullptr;
  const LevelsRun* shared = c_.levels_for[static_cast<int>(collective)];
  return make_run(wanted->hierarchy, std::move(groups), shared->shared_messages(), first_tag);
}

}  // namespace

bool set_up_levels(Communicator& c, const std::vector<Hello>& hellos, Wishes& wishes) {
  LevelsSetUp set_up(c, hellos, wishes);
  return set_up.choose() && set_up.make();
}

std::unique_ptr<LevelsRun> make_own_levels(Communicator& c, Collective collective, int first_tag) {
  const std::vector<Hello> hellos = gather_hellos(c);
  Wishes wishes;  // told of when the communicator was set up
  LevelsSetUp set_up(c, hellos, wishes);
  return set_up.make_own(collective, first_tag);
}

}  // namespace sumac

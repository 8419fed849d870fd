// SPDX-License-Identifier: BSD-3-Clause
// The tests check what is found out about the members of communicators: for random lists of ranks,
// of jobs whose launchers tell more or less, and in which some ranks run without Sumac. Each rank
// is a process of its own, because a process remembers what it has seen.
#include "interpose/process/members.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/meeting.h"
#include "machine/presence.h"
#include "observe/log.h"

namespace sumac {
namespace {

using Random = std::minstd_rand;
constexpr int kMostRanks = 12;

// A launcher tells a rank which ranks it has started on the rank's node, how many, or nothing.
enum class Tells : std::uint8_t { numbers, number, nothing };
enum class Sumac : std::uint8_t { served, disabled, not_able, not_loaded };

struct Job {
  std::vector<int> nodes;  // indexed by rank in the world, as the next two
  std::vector<Sumac> sumac;
  std::vector<int> late;  // its mark is seen only by so many looks
  Tells tells = Tells::numbers;
  bool has_world = true, renumbers = false;

  int size() const { return static_cast<int>(nodes.size()); }
};

// This process sees these.
Job job;
int own_rank = 0;
std::vector<int> list;  // members of the communicator
int groups = 0, looks = 0, naps = 0;
bool ended = false;

int node_of(int rank) { return job.nodes[static_cast<std::size_t>(rank)]; }
Sumac sumac_of(int rank) { return job.sumac[static_cast<std::size_t>(rank)]; }

constexpr std::uintptr_t kWorldGroup = 1, kGroup = 2;

int group_of(MpiComm comm, GroupPointer group) {
  ++groups;
  group.set({comm == kMpi.comm_world ? kWorldGroup : kGroup});
  return kMpiSuccess;
}
int translate(MpiGroup from, int count, const int* ranks, MpiGroup to, int* out) {
  EXPECT_TRUE(from.bits == kGroup && to.bits == kWorldGroup);
  for (int i = 0; i < count; ++i) out[i] = list[static_cast<std::size_t>(ranks[i])];
  return kMpiSuccess;
}
int free_group(GroupPointer group) {
  --groups;
  group.set(kMpi.group_null);
  return kMpiSuccess;
}

}  // namespace

bool world_exists() { return job.has_world; }
void probe_mpi(const Communicator&) {}
void end_job(MpiComm) { ended = true; }

JobOnNode look_at_job() {
  JobOnNode seen;
  seen.own = job.renumbers ? own_rank + 1 : own_rank;
  ++looks;
  for (int r = 0; r < job.size(); ++r) {
    if (node_of(r) != node_of(own_rank)) continue;
    if (job.tells == Tells::numbers) seen.numbers.push_back(r);
    if (job.tells != Tells::nothing) ++seen.started;
    const Sumac sumac = sumac_of(r);
    if (sumac == Sumac::not_loaded || looks <= job.late[static_cast<std::size_t>(r)]) continue;
    seen.marks.push_back({1, r, 100 + r, static_cast<Mark::State>(sumac)});
  }
  return seen;
}

// A moment takes no time here.
extern "C" int nanosleep(const timespec*, timespec*) {
  ++naps;
  return 0;
}

namespace {

// A process has found this out.
struct Found {
  bool made, may, ended, speaks;
  Reason reason;
  std::uint64_t identity;
  int naps, groups;
  char unseen[256];
};

Found find_out() {
  Communicator c;
  c.size = static_cast<int>(list.size());
  c.rank = static_cast<int>(std::find(list.begin(), list.end(), own_rank) - list.begin());
  Found found{};
  found.made = true;
  found.may = members_may_be_served(c, found.reason);
  found.identity = c.identity;
  found.speaks = speaks_for_node(c);
  std::strncpy(found.unseen, not_seen(c).c_str(), sizeof found.unseen - 1);
  found.ended = ended;
  found.naps = naps;
  found.groups = groups;
  return found;
}

class Members : public ::testing::Test {
 protected:
  void SetUp() override {
    job = {};
    mpi.Comm_rank = [](MpiComm, int* rank) { return *rank = own_rank, kMpiSuccess; };
    mpi.Comm_size = [](MpiComm, int* size) { return *size = job.size(), kMpiSuccess; };
    mpi.Comm_group = group_of;
    mpi.Group_translate_ranks = translate;
    mpi.Group_free = free_group;
    set_log(Level::off, 0);
    found_ = static_cast<Found*>(mmap(nullptr, kMostRanks * sizeof *found_, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  void TearDown() override { munmap(found_, kMostRanks * sizeof *found_); }

  // Lets all members with Sumac find out about each other, each in its own process.
  void ask_all() {
    std::memset(static_cast<void*>(found_), 0, kMostRanks * sizeof *found_);
    std::vector<pid_t> processes;
    for (const int member : list) {
      if (member == kMpi.undefined || sumac_of(member) != Sumac::served) continue;
      const pid_t process = fork();
      if (process == 0) {
        own_rank = member;
        found_[member] = find_out();
        _exit(0);
      }
      processes.push_back(process);
    }
    for (const pid_t process : processes) waitpid(process, nullptr, 0);
  }
  const Found& found(int rank) const { return found_[rank]; }

  Found* found_ = nullptr;
};

std::vector<int> random_list(Random& random, int world) {
  std::vector<int> all(static_cast<std::size_t>(world));
  std::iota(all.begin(), all.end(), 0);
  if (random() % 3 == 0) std::shuffle(all.begin(), all.end(), random);
  if (random() % 3 == 0) std::reverse(all.begin(), all.end());
  const std::size_t first = random() % 2, stride = 1 + random() % 3;
  std::vector<int> taken;
  for (std::size_t i = first; i < all.size(); i += stride) taken.push_back(all[i]);
  if (taken.empty()) taken.push_back(all[0]);
  return taken;
}

Job random_job(Random& random) {
  Job made;
  const int ranks = 2 + static_cast<int>(random() % (kMostRanks - 1));
  const int nodes = 1 + static_cast<int>(random() % 3);
  const bool some_lack = random() % 2 == 0, in_turn = random() % 2 == 0;
  for (int r = 0; r < ranks; ++r) {
    made.nodes.push_back(in_turn ? r % nodes : r * nodes / ranks);
    const bool lacks = some_lack && random() % 4 == 0;
    made.sumac.push_back(lacks ? static_cast<Sumac>(1 + random() % 3) : Sumac::served);
    made.late.push_back(0);
  }
  made.tells = static_cast<Tells>(random() % 3);
  return made;
}

// Tells what a member can know of another one, as the launcher tells: a rank with a mark runs here;
// of one without, the rank's place has to be known.
bool is_known_to_lack(int by, int member) {
  if (sumac_of(member) == Sumac::served || node_of(member) != node_of(by)) return false;
  if (sumac_of(member) != Sumac::not_loaded) return true;
  const bool one_node = std::ranges::count(job.nodes, job.nodes[0]) == job.size();
  return job.tells == Tells::numbers || (job.tells == Tells::number && one_node);
}

// Returns true if the member is not known to run on the node of `by`, with Sumac or without.
bool is_beyond(int by, int member) {
  const bool has_mark = sumac_of(member) != Sumac::not_loaded;
  if (node_of(member) == node_of(by) && has_mark) return false;
  return !is_known_to_lack(by, member);
}

std::string unseen_by(int own) {
  std::string text;
  int left = 0;
  for (std::size_t r = 0; r < list.size(); ++r) {
    const int member = list[r];
    const bool here = node_of(member) == node_of(own) && sumac_of(member) == Sumac::served;
    if (member == own || here) continue;
    if (++left <= 8) text += (text.empty() ? "" : ", ") + std::to_string(r);
  }
  return left > 8 ? text + " and " + std::to_string(left - 8) + " more" : text;
}

TEST_F(Members, OfANodeFindTheSame) {
  for (unsigned seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    job = random_job(random);
    list = random_list(random, job.size());
    ask_all();
    std::map<int, int> speakers, lacking, ends;
    for (const int own : list) {
      if (sumac_of(own) != Sumac::served) continue;
      const Found& it = found(own);
      ASSERT_TRUE(it.made);
      const bool lacks = std::ranges::any_of(list, [&](int m) { return is_known_to_lack(own, m); });
      const bool beyond = std::ranges::any_of(list, [&](int m) { return is_beyond(own, m); });
      EXPECT_EQ(it.may, !lacks) << "rank " << own;
      EXPECT_TRUE(it.may || it.reason == Reason::rank_without);
      EXPECT_EQ(it.unseen, unseen_by(own));
      EXPECT_EQ(it.groups, 0);
      EXPECT_LE(it.naps, 40);
      speakers[node_of(own)] += it.speaks;
      ends[node_of(own)] += it.ended;
      EXPECT_TRUE(!it.ended || (lacks && beyond));
      lacking[node_of(own)] = lacks && beyond;
    }
    for (const auto& [node, number] : speakers) EXPECT_EQ(number, 1) << "node " << node;
    for (const auto& [node, number] : ends) EXPECT_EQ(number, lacking[node]) << "node " << node;
  }
}

// The hash stands for the list: two communicators have the same one if they have the same ranks in
// the same order.
TEST_F(Members, AreOneIdentityInOneOrder) {
  std::map<std::vector<int>, std::uint64_t> identities;
  std::map<std::uint64_t, std::vector<int>> lists;
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    job = random_job(random);
    std::ranges::fill(job.sumac, Sumac::served);
    job.renumbers = random() % 4 == 0;  // then nothing is known of the node
    list = random_list(random, job.size());
    EXPECT_EQ(world_ranks({kGroup}, static_cast<int>(list.size())), list);
    ask_all();
    for (const int own : list) {
      EXPECT_TRUE(found(own).may);
      EXPECT_NE(found(own).identity, 0u);
      EXPECT_EQ(identities.emplace(list, found(own).identity).first->second, found(own).identity);
      EXPECT_EQ(lists.emplace(found(own).identity, list).first->second, list);
    }
  }
  EXPECT_EQ(groups, 0);
}

TEST_F(Members, OfAnotherWorldAreLeftToTheMpi) {
  job.nodes = {0, 0, 1, 1};
  job.sumac.assign(4, Sumac::served);
  job.late.assign(4, 0);
  for (std::size_t other = 0; other < 4; ++other) {
    list = {0, 1, 2, 3};
    list[other] = kMpi.undefined;
    ask_all();
    for (const int own : list) {
      if (own == kMpi.undefined) continue;
      EXPECT_TRUE(!found(own).may && found(own).reason == Reason::other_world);
      EXPECT_EQ(found(own).identity, 0u);
    }
  }
  list = {0, 1, 2, 3};
  job.has_world = false;
  ask_all();
  for (const int own : list) {
    EXPECT_TRUE(found(own).may) << "nothing can be found out";
    EXPECT_EQ(found(own).identity, 0u);
  }
  EXPECT_TRUE(world_ranks({kGroup}, 4).empty());
}

// A rank that looks as if it had not started yet gets a moment, but not for ever.
TEST_F(Members, ThatStartLateAreWaitedFor) {
  for (const Tells tells : {Tells::numbers, Tells::number}) {
    for (const int late : {0, 1, 2, 39, 40, 41, 1000}) {
      job.nodes = {0, 0, 0};
      job.sumac.assign(3, Sumac::served);
      job.late = {0, 0, late};
      job.tells = tells;
      list = {2, 0, 1};
      ask_all();
      for (const int own : {0, 1}) {
        EXPECT_EQ(found(own).may, late <= 40) << late;
        EXPECT_EQ(found(own).naps, std::min(late, 40));
      }
    }
  }
}

}  // namespace
}  // namespace sumac

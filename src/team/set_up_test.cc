// SPDX-License-Identifier: BSD-3-Clause
// If a rank cannot do something, or does it differently from the rest, that becomes a decision of
// all ranks. The tests try each rank, on one node and on several.
#include "team/set_up.h"

#include <gtest/gtest.h>

#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "testing/thread_team.h"
#include "transport/xpmem.h"

namespace sumac::testing {
namespace {

// Counts descriptors and mappings of shared memory of this process.
std::size_t count_files() {
  std::size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory)) ++count;
  closedir(directory);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    count += line.find("/memfd:") != std::string::npos;
  }
  return count;
}

// A defect of one rank, and the decision that all ranks take.
struct Fault {
  const char* name;
  void (*make)(Setting& setting);
  Reason reason;
  bool (*concerns)(const Setting& setting);  // the odd rank notices it
};

bool always(const Setting&) { return true; }
int node_of(const Setting& setting, int rank) {
  return static_cast<int>(setting.places[static_cast<std::size_t>(rank)].node);
}
bool shares_memory(const Setting& setting) {
  int others = -1;
  for (int r = 0; r < setting.ranks(); ++r)
    others += node_of(setting, r) == node_of(setting, setting.odd);
  return others > 0;
}
bool sends_messages(const Setting& setting) {
  return node_of(setting, 0) != node_of(setting, setting.ranks() - 1);
}

constexpr Fault kFaults[] = {
    {"options differ", [](Setting& s) { s.odd_environment = {"SUMAC_CMA=off"}; },
     Reason::options_differ, always},
    {"types differ", [](Setting& s) { s.odd_hello = [](Hello& own) { own.types = 1; }; },
     Reason::types_differ, always},
    {"device", [](Setting& s) { s.odd_hello = [](Hello& own) { own.accelerator = 1; }; },
     Reason::device, always},
    {"too many messengers",
     [](Setting& s) { s.odd_hello = [](Hello& own) { own.messengers = kMostMessengers; }; },
     Reason::messages, sends_messages},
    {"no messages", [](Setting& s) { s.odd_has_no_messages = true; }, Reason::messages,
     sends_messages},
    // The leader cannot make offers, and a member cannot map blocks.
    {"no shared memory", [](Setting& s) { s.odd_has_no_memory = true; }, Reason::shared_memory,
     shares_memory},
};

void expect_handed_down(ThreadTeam& all, Reason reason) {
  for (int r = 0; r < all.setting().ranks(); ++r) {
    EXPECT_EQ(all[r].state, Team::State::handed_down) << r;
    EXPECT_STREQ(text_of(all[r].reason), text_of(reason)) << r;
    EXPECT_TRUE(all[r].blocks.empty());
    EXPECT_TRUE(all[r].levels.empty());
    EXPECT_TRUE(all[r].messages.empty());
  }
}

void expect_together(ThreadTeam& all) {
  for (int r = 0; r < all.setting().ranks(); ++r) {
    EXPECT_EQ(all[r].state, Team::State::together) << r << ' ' << text_of(all[r].reason);
  }
}

template <class Check>
void for_each_rank_of_teams(Check check) {
  for (const int ranks : {2, 3, 4, 7}) {
    for (const int nodes : {1, 2, ranks}) {
      for (int odd = 0; odd < ranks; ++odd) {
        for (const int tell_all : {1, 64}) {
          Setting setting = setting_of(ranks, nodes);
          setting.odd = odd;
          setting.tell_all = tell_all;
          SCOPED_TRACE(std::to_string(odd) + " of " + std::to_string(ranks) + " ranks on " +
                       std::to_string(nodes) + " nodes" + (tell_all > 1 ? ", all tell all" : ""));
          check(setting);
        }
      }
    }
  }
}

TEST(SetUp, AFaultOfOneRankIsADecisionOfAll) {
  { const ThreadTeam first(setting_of(2, 1)); }  // the process's status page stays
  for (const Fault& fault : kFaults) {
    SCOPED_TRACE(fault.name);
    for_each_rank_of_teams([&](Setting& setting) {
      fault.make(setting);
      const std::size_t files = count_files();
      {
        ThreadTeam all(setting);
        if (fault.concerns(setting)) {
          expect_handed_down(all, fault.reason);
          EXPECT_EQ(count_files(), files);
        } else {
          expect_together(all);
        }
      }
      EXPECT_EQ(count_files(), files);
    });
  }
}

// The budget of a rank does not suffice for two teams.
TEST(SetUp, ASpentBudgetIsADecisionOfAll) {
  for_each_rank_of_teams([&](Setting& setting) {
    const std::size_t files = count_files();
    {
      ThreadTeam all(setting, [&](ThreadTeam& team) {
        const std::uint64_t self = 1;
        Arena& arena = team.process(setting.odd).arena;
        const std::size_t budget = team.process(setting.odd).options.shm_budget;
        // The loop takes blocks until nothing fits any more.
        for (Ticket ticket; ticket.offer != Offer::over_budget;) {
          ticket = arena.offer(1, 64, &self, budget);
          if (ticket.offer == Offer::fresh) arena.confirm(ticket);
        }
        for (Ticket ticket; ticket.offer != Offer::over_budget;) {
          ticket = arena.offer(1, 1, &self, budget);
          if (ticket.offer == Offer::fresh) arena.confirm(ticket);
        }
      });
      const Setting& its = all.setting();
      bool leads = shares_memory(its);
      for (int r = 0; r < its.odd; ++r) leads &= node_of(its, r) != node_of(its, its.odd);
      if (leads) {
        expect_handed_down(all, Reason::budget);
      } else {
        expect_together(all);
      }
    }
    EXPECT_EQ(count_files(), files);
  });
}

// The ranks of a node may be unable to gather what they have to tell one another: who they are,
// what blocks their leaders offer, or what they have measured.
TEST(SetUp, ANodeWithoutACommunicatorIsADecisionOfAll) {
  for (int after = 0; after < 3; ++after) {
    for (const int lonely : {0, 3, 5}) {
      Setting setting = setting_of(6, 3);
      setting.lonely = lonely;
      setting.lonely_after = after;
      setting.clock = kClockOfBatches;
      setting.line_ns = [](int) { return 100.0; };
      const std::size_t files = count_files();
      {
        ThreadTeam all(setting);
        if (after < 2) {
          expect_handed_down(all, Reason::messages);
          EXPECT_EQ(count_files(), files);
          continue;
        }
        expect_together(all);
        for (int r = 0; r < 6; ++r) {
          const Measured& measured = all[r].levels[0]->agreed().groups[0].measured;
          EXPECT_EQ(measured.distance == Distance::unknown, r / 2 == lonely / 2) << r;
        }
      }
      EXPECT_EQ(count_files(), files);
    }
  }
}

// Others cannot reach one rank, or it reaches nobody: the team goes without single copy.
TEST(SetUp, AttachThatOneRankLacksIsUsedByNone) {
  const pid_t self = getpid();
  CrossMemoryAttach memory(&self, 1);
  if (!attach_works(memory, 0, own_attach_probe())) GTEST_SKIP() << "this system refuses attach";
  for_each_rank_of_teams([&](Setting& setting) {
    setting.odd_hello = [](Hello& own) { own.probe.value ^= 1; };
    ThreadTeam all(setting);
    expect_together(all);
    for (int r = 0; r < setting.ranks(); ++r) {
      EXPECT_EQ(all[r].spec.reach == Reach::none, shares_memory(setting));
      if (shares_memory(setting)) {
        EXPECT_EQ(all[r].peers, nullptr);
      }
    }
  });
}

// Other ranks can map this file, as long as the object lives.
struct TestFile {
  TestFile() : file{memfd_create("test", MFD_CLOEXEC), 0, 0} {
    struct stat status = {};
    if (ftruncate(file.descriptor, off_t{1} << 47) != 0 || fstat(file.descriptor, &status) != 0) {
      std::abort();
    }
    file.device = status.st_dev;
    file.inode = status.st_ino;
  }
  ~TestFile() { close(file.descriptor); }
  FileIdentity file;
};

// Returns how many ranks share memory in this one's lowest group: all of a team without levels.
int in_group_of(const Team& team) {
  if (team.levels.empty()) return team.size;
  const LevelGroup& lowest = team.levels[0]->agreed().groups[0];
  return lowest.shared ? lowest.size : 1;
}

// Ranks try to go direct if all of them can map the memory of all ranks in their group, or in their
// group of the lowest level.
TEST(SetUp, MemoryOfAllRanksIsMapped) {
  const pid_t self = getpid();
  CrossMemoryAttach memory(&self, 1);
  if (!attach_works(memory, 0, own_attach_probe())) GTEST_SKIP() << "this system refuses attach";
  const TestFile test;
  for (int defect = 0; defect < 3; ++defect) {
    for_each_rank_of_teams([&](Setting& setting) {
      setting.memory_file = test.file;
      if (defect == 1) setting.odd_hello = [](Hello& own) { own.memory_file = {}; };
      if (defect == 2) setting.odd_hello = [](Hello& own) { ++own.memory_file.inode; };
      ThreadTeam all(setting);
      expect_together(all);
      const bool one_group = all[0].levels.empty();
      const Algorithm otherwise =
          one_group ? Algorithm::allreduce_split_slots : Algorithm::allreduce_levels;
      const bool maps = defect == 0 || in_group_of(all[setting.odd]) == 1;
      for (int r = 0; r < setting.ranks(); ++r) {
        EXPECT_EQ(all[r].spec.reach == Reach::maps, maps);
        EXPECT_EQ(all[r].direct_tries != nullptr, maps);
        const auto direct = all[r].choose_direct(Collective::allreduce, 1 << 20, otherwise);
        EXPECT_EQ(direct == Algorithm::allreduce_direct, maps && in_group_of(all[r]) > 1);
        // All ranks count the same calls, whatever their groups try.
        for (const Collective each : {Collective::allreduce, Collective::reduce, Collective::bcast})
          EXPECT_EQ(all[r].direct_classes(each), all[0].direct_classes(each));
        const auto other = (r + 1) % setting.ranks();
        if (maps && one_group) {
          EXPECT_NE(all[r].peers->view(other, 1 << 20, 8), nullptr);
        }
      }
    });
  }
}

// With XPMEM they see all memory, if all of them see that of all others. A rank without a memory
// file does not matter then.
TEST(SetUp, AllMemoryIsSeenByXpmem) {
  const pid_t self = getpid();
  CrossMemoryAttach memory(&self, 1);
  if (!attach_works(memory, 0, own_attach_probe())) GTEST_SKIP() << "this system refuses attach";
  const Xpmem* const xpmem = Xpmem::open(SUMAC_STAND_IN);
  ASSERT_NE(xpmem, nullptr);
  for (int defect = 0; defect < 3; ++defect) {
    for_each_rank_of_teams([&](Setting& setting) {
      setting.all_hellos = [&](int, Hello& own) { own.segment = xpmem->segment(); };
      if (defect == 1) setting.odd_hello = [](Hello& own) { own.segment = 0; };
      if (defect == 2) setting.odd_hello = [](Hello& own) { own.segment += 1000; };
      ThreadTeam all(setting);
      expect_together(all);
      const bool sees = defect == 0 || in_group_of(all[setting.odd]) == 1;
      for (int r = 0; r < setting.ranks(); ++r) {
        EXPECT_EQ(all[r].spec.reach == Reach::maps, sees);
        EXPECT_EQ(all[r].sees_all_memory, sees);
        EXPECT_EQ(all[r].direct_tries != nullptr, sees);
        if (sees && all[0].levels.empty()) {
          EXPECT_NE(all[r].peers->view((r + 1) % setting.ranks(), 1 << 20, 8), nullptr);
        }
      }
    });
  }
}

// After a hand-down because memory was lacking, the same ranks can be a team again.
TEST(SetUp, ATeamComesAfterAnother) {
  for_each_rank_of_teams([&](Setting& setting) {
    ThreadTeam all(setting);
    expect_together(all);
    std::vector<const std::byte*> blocks;
    for (int r = 0; r < setting.ranks(); ++r)
      blocks.push_back(all[r].blocks.empty() ? nullptr : all[r].blocks[0]);
    const std::size_t files = count_files();
    all.each([&](Team& team, const Hello& own) {
      team.deferred = true;
      team.reset();
      team.oob.all_and(nullptr, 0);  // all ranks call it
      set_up_team(team, own, false);
    });
    expect_together(all);
    EXPECT_EQ(count_files(), files);  // blocks are used again
    for (int r = 0; r < setting.ranks(); ++r) {
      EXPECT_EQ(all[r].blocks.empty() ? nullptr : all[r].blocks[0],
                blocks[static_cast<std::size_t>(r)]);
    }
  });
}

// Sets up a team of the same ranks as `first`, which meet elsewhere, and ends it. Its messages stay
// idle.
void come_and_go(const Team& first, Hello hello, TeamMeeting& meeting, const Setting& setting) {
  ThreadOob oob(meeting, setting, first.rank);
  Team team(first.context, oob);
  team.rank = first.rank;
  team.size = first.size;
  set_up_team(team, hello, false);
  EXPECT_EQ(team.state, Team::State::together);
  const std::uint64_t id = team.messages.empty() ? 0 : team.messages[0].id;
  std::uint64_t words[] = {id, ~id};
  oob.all_and(words, 2);
  EXPECT_EQ(words[0], ~words[1]) << "the ranks have other messages than one another";
  team.deferred = true;
  team.reset();
}

TEST(SetUp, ThreadsSetUpTeamsOfTheSameRanksAtOnce) {
  constexpr int kThreads = 3, kRounds = 100;
  const Setting setting = setting_of(3, 3);
  ThreadTeam all(setting);
  std::deque<TeamMeeting> meetings;
  for (int t = 0; t < kThreads; ++t) meetings.emplace_back(setting.ranks());
  all.each([&](Team& first, const Hello& own) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t, hello = own]() mutable {
        for (int round = 0; round < kRounds; ++round) {
          hello.serial = static_cast<std::uint64_t>(1 + round * kThreads + t) << 32;
          come_and_go(first, hello, meetings[static_cast<std::size_t>(t)], setting);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

TEST(SetUp, AgreesOnOptionsAloneAtFirst) {
  Setting setting = setting_of(4, 2);
  ThreadTeam all(setting, {}, true);
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(all[r].state, Team::State::counting);
    EXPECT_TRUE(all[r].blocks.empty());
  }
  all.each([](Team& team, const Hello& own) { set_up_team(team, own, false); });
  expect_together(all);
}

// Persistent operations have the same place on all ranks, each another one, and none on any rank
// once a leader has spent what they may have.
TEST(SetUp, PlacesOfPersistentOperationsAreAgreedOn) {
  for_each_rank_of_teams([&](Setting& setting) {
    ThreadTeam all(setting);
    constexpr int kOperations = 24;
    std::vector<std::vector<std::size_t>> places(static_cast<std::size_t>(setting.ranks()));
    all.each([&](Team& team, const Hello&) {
      for (int i = 0; i < kOperations; ++i) {
        const Choice& choice = team.choose(Collective::allreduce, 8);
        OwnRanks* own = acquire_own_ranks(team, Collective::allreduce, choice);
        std::size_t place = 0;
        while (own && team.own_ranks[place].get() != own) ++place;
        places[static_cast<std::size_t>(team.rank)].push_back(own ? place + 1 : 0);
        // One rank is slower to give back what it had.
        if (own && (team.rank == setting.odd ? i % 4 == 0 : i % 2 == 0)) own->in_use = false;
      }
    });
    for (const auto& of_rank : places) EXPECT_EQ(of_rank, places[0]);
  });
}

}  // namespace
}  // namespace sumac::testing

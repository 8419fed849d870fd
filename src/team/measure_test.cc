// SPDX-License-Identifier: BSD-3-Clause
// The tests check how far ranks are taken to be from one another: all of them find the same, and
// the farthest neighbours count.
#include "team/measure.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "testing/one_process.h"
#include "testing/thread_team.h"
#include "transport/cma.h"

namespace sumac::testing {
namespace {

Setting measured_setting(int ranks, int nodes) {
  Setting setting = setting_of(ranks, nodes);
  setting.clock = kClockOfBatches;
  return setting;
}

// Returns the ranks of the node of `rank`, from first to last.
std::pair<int, int> node_of(const Setting& setting, int rank) {
  const auto at = [&](int r) { return setting.places[static_cast<std::size_t>(r)].node; };
  int first = rank, last = rank;
  while (first > 0 && at(first - 1) == at(rank)) --first;
  while (last + 1 < setting.ranks() && at(last + 1) == at(rank)) ++last;
  return {first, last};
}

// Returns what was measured in a rank's group on its own node.
const Measured& measured_on_node(const Team& team) {
  const LevelsRun* run = team.levels_for[static_cast<int>(Collective::allreduce)];
  return run ? run->agreed().groups[0].measured : team.spec.measured;
}

// Returns how far a rank should be: rank r is so far from its right neighbour.
Distance expected(const Setting& setting, int rank) {
  const auto [first, last] = node_of(setting, rank);
  if (first == last || setting.oversubscribed) return Distance::unknown;
  Distance distance = Distance::sibling;
  for (int r = first; r < last; ++r) distance = farther(distance, distance_of(setting.line_ns(r)));
  return distance;
}

void expect_distances(ThreadTeam& all) {
  for (int r = 0; r < all.setting().ranks(); ++r) {
    EXPECT_EQ(all[r].state, Team::State::together);
    EXPECT_STREQ(name_of(measured_on_node(all[r]).distance), name_of(expected(all.setting(), r)))
        << r;
  }
}

template <class Check>
void for_each_rank_of_teams(Check check) {
  for (const int ranks : {2, 3, 5}) {
    for (const int nodes : {1, 2, ranks}) {
      for (int odd = 0; odd < ranks; ++odd) {
        SCOPED_TRACE(std::to_string(odd) + " of " + std::to_string(ranks) + " ranks on " +
                     std::to_string(nodes) + " nodes");
        check(measured_setting(ranks, nodes), odd);
      }
    }
  }
}

TEST(Measure, TheFarthestNeighboursCount) {
  for (const double usual : {40.0, 100.0, 500.0}) {
    for (const double one : {40.0, 100.0, 500.0}) {
      for_each_rank_of_teams([&](Setting setting, int odd) {
        setting.line_ns = [=](int rank) { return rank == odd ? one : usual; };
        ThreadTeam all(setting);
        expect_distances(all);
      });
    }
  }
}

TEST(Measure, ManyRanksAndLevels) {
  for (const char* hierarchy : {"auto", "ranks:2,node", "ranks:3,ranks:6,node"}) {
    Setting setting = measured_setting(13, 2);
    setting.hierarchy = hierarchy;
    for (const int far : {-1, 1, 6, 12}) {
      setting.line_ns = [=](int rank) { return rank == far ? 500.0 : 100.0; };
      ThreadTeam all(setting);
      // The values are the same on all ranks of a group, at each level.
      for (int r = 0; r < setting.ranks(); ++r) {
        EXPECT_EQ(all[r].state, Team::State::together);
        const LevelsRun* own = all[r].levels_for[static_cast<int>(Collective::allreduce)];
        for (std::size_t l = 0; l < own->agreed().groups.size(); ++l) {
          const LevelGroup& group = own->agreed().groups[l];
          const bool measured = group.shared && group.size > 1;
          EXPECT_EQ(group.measured.distance != Distance::unknown, measured);
          for (const int other : group.members) {
            const LevelsRun* their = all[other].levels_for[static_cast<int>(Collective::allreduce)];
            EXPECT_EQ(their->agreed().groups[l].measured.distance, group.measured.distance);
          }
        }
      }
    }
  }
}

// The ranks come one by one, so that nobody answers. Each gives up, whatever the ranks before it
// left behind.
TEST(Measure, NobodyWaitsForARankThatDoesNotCome) {
  for (const int ranks : {2, 3, 5}) {
    const TestBlock block(ranks, 8, 1024);
    for (int turn = 0; turn < 3; ++turn) {
      for (int r = 0; r < ranks; ++r) {
        const ShmGroup group = block.group(r);
        EXPECT_EQ(distance_of_neighbours(group, 7, {now_ns, 0}), Distance::unknown);
      }
    }
  }
}

// This reaches the memory of threads by way of the kernel, as a rank that gives up may have freed
// it meanwhile. A rank whose memory is refused ends what is measured with it.
class ThreadMemory final : public PeerMemory {
 public:
  explicit ThreadMemory(int refused) : refused_(refused) {}
  bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) override {
    const pid_t own = getpid();
    return peer != refused_ && CrossMemoryAttach(&own, 1).read(0, address, to, bytes);
  }
  bool write(int, std::uintptr_t, const void*, std::size_t) override { return false; }

 private:
  const int refused_;
};

std::vector<Attach> attach_of_threads(const TestBlock& block, int ranks, int refused,
                                      const LineClock& clock) {
  std::vector<Attach> seen(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      ThreadMemory memory(refused);
      seen[static_cast<std::size_t>(r)] =
          copies_of_neighbours(block.group(r), memory, 7, clock).attach;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return seen;
}

TEST(Measure, NeighboursCopyInTurns) {
  for (const int ranks : {2, 3, 5}) {
    const TestBlock block(ranks, 8, 32 << 10);
    for (int turn = 0; turn < 3; ++turn) {
      // By a clock that stands still each copy took as long as any other, so single copy is fast.
      const LineClock clock{[]() -> std::uint64_t { return 0; }, kClockOfBatches.patience};
      for (const Attach each : attach_of_threads(block, ranks, -1, clock)) {
        EXPECT_EQ(each, Attach::fast);
      }
    }
  }
}

// Both sides of a refused copy see it, and those who copy with neither do not.
TEST(Measure, ARefusedCopyIsUnknown) {
  for (const int ranks : {2, 3, 5}) {
    const TestBlock block(ranks, 8, 32 << 10);
    for (int refused = 0; refused + 1 < ranks; refused += 2) {
      const auto seen = attach_of_threads(block, ranks, refused,
                                          {[]() -> std::uint64_t { return 0; }, 50'000'000});
      for (int r = 0; r < ranks; ++r) {
        const bool is_near = r == refused || r == refused + 1;
        // Their other neighbours may wait in vain, or come in time.
        if (r == refused - 1 || r == refused + 2) continue;
        EXPECT_EQ(seen[static_cast<std::size_t>(r)], is_near ? Attach::unknown : Attach::fast) << r;
      }
    }
  }
}

TEST(Measure, SmallSlotsAreNotMeasuredForCopies) {
  for (const auto& [ring, bytes] : {std::pair{8, 16 << 10}, std::pair{4, 32 << 10}}) {
    const TestBlock block(2, static_cast<std::size_t>(ring), static_cast<std::size_t>(bytes));
    ThreadMemory memory(-1);
    EXPECT_EQ(copies_of_neighbours(block.group(0), memory, 7, LineClock()), Measured());
  }
}

// The cost of copies is the same on all ranks of a group, and known if its slots are large enough.
TEST(Measure, AllRanksAgreeOnCopies) {
  for_each_rank_of_teams([&](Setting setting, int) {
    setting.slot_bytes = 32 << 10;
    setting.line_ns = [=](int) { return 100.0; };
    ThreadTeam all(setting);
    for (int r = 0; r < setting.ranks(); ++r) {
      const auto [first, last] = node_of(setting, r);
      const Attach attach = measured_on_node(all[r]).attach;
      EXPECT_EQ(attach, measured_on_node(all[first]).attach);
      EXPECT_EQ(attach == Attach::unknown, first == last);
    }
  });
}

// Whoever is late, all take the same: what was measured, or nothing.
TEST(Measure, WithoutPatienceAllAgreeNevertheless) {
  for_each_rank_of_teams([&](Setting setting, int odd) {
    setting.line_ns = [=](int rank) { return rank == odd ? 500.0 : 100.0; };
    setting.clock.patience = 0;
    ThreadTeam all(setting);
    for (int r = 0; r < setting.ranks(); ++r) {
      EXPECT_EQ(all[r].state, Team::State::together);
      const Distance distance = measured_on_node(all[r]).distance;
      EXPECT_EQ(distance, measured_on_node(all[node_of(setting, r).first]).distance);
      if (distance != Distance::unknown) {
        EXPECT_EQ(distance, expected(setting, r));
      }
    }
  });
}

TEST(Measure, SharedProcessorsAreNotMeasured) {
  for_each_rank_of_teams([&](Setting setting, int) {
    std::atomic<int> asked = 0;
    setting.oversubscribed = true;
    setting.line_ns = [&](int) { return ++asked, 100.0; };
    ThreadTeam all(setting);
    expect_distances(all);
  });
}

// Teams of the same ranks that follow one another soon are not measured again; others are.
TEST(Measure, WhatIsKnownIsNotMeasuredAgain) {
  Setting setting = measured_setting(4, 1);
  double ns = 100;
  setting.line_ns = [&](int) { return ns; };
  ThreadTeam all(setting);
  const auto again = [&] {
    all.each([&](Team& team, const Hello& own) {
      team.reset();
      team.oob.all_and(nullptr, 0);
      set_up_team(team, own, false);
    });
  };
  ns = 500;
  again();
  for (int r = 0; r < 4; ++r) EXPECT_EQ(all[r].spec.measured.distance, Distance::near) << r;
  // The leader alone decides that nothing need be measured.
  const auto own = all[0].node.processes;
  std::uint64_t hash = SUMAC_HASH_START;
  for (const std::uint64_t process : own) hash = hash_value(process, hash);
  all.process(0).measures.keep(hash, {Distance::near, Attach::unknown, Stores::unknown},
                               0);  // it was measured long ago
  again();
  for (int r = 0; r < 4; ++r) EXPECT_EQ(all[r].spec.measured.distance, Distance::far) << r;
}

TEST(Measure, NothingIsKeptForLong) {
  KnownMeasures known;
  const Measured far{Distance::far, Attach::slow, Stores::streamed};
  EXPECT_FALSE(known.find(7, 1000));
  known.keep(7, far, 1000);
  EXPECT_EQ(known.find(7, 1000 + KnownMeasures::kKept), far);
  EXPECT_FALSE(known.find(7, 1001 + KnownMeasures::kKept));
  EXPECT_FALSE(known.find(8, 1000));
  known.keep(7, {}, 2000);
  EXPECT_EQ(known.find(7, 2000), Measured());
  for (std::uint64_t group = 0; group < 10000; ++group) known.keep(group, far, 0);
  EXPECT_EQ(known.find(9999, 0), far);
}

// Rules ask for it, and all ranks choose alike.
TEST(Measure, RulesAskForIt) {
  for (const double ns : {100.0, 500.0}) {
    for_each_rank_of_teams([&](Setting setting, int odd) {
      setting.line_ns = [=](int rank) { return rank == odd ? ns : 100.0; };
      add_rule(setting.rules, Over::shm, Algorithm::allreduce_split_slots, 0, 2);
      setting.rules.rules.back().handover = Distance::far;
      add_rule(setting.rules, Over::shm, Algorithm::allreduce_flat_slots, 0, 2);
      setting.rules.rules.back().handover = Distance::near;
      ThreadTeam all(setting);
      for (int r = 0; r < setting.ranks(); ++r) {
        if (all[r].levels_for[static_cast<int>(Collective::allreduce)]) continue;
        EXPECT_EQ(all[r].choose(Collective::allreduce, 64).algorithm,
                  expected(setting, r) == Distance::far ? Algorithm::allreduce_split_slots
                                                        : Algorithm::allreduce_flat_slots);
      }
    });
  }
}

}  // namespace
}  // namespace sumac::testing

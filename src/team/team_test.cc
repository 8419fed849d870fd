// SPDX-License-Identifier: BSD-3-Clause
// The tests run whole operations of teams, as one group or over hierarchies, with ranks as threads.
// Machines, specifications, plans and operations are random, and one operation follows another with
// nothing between them. Results are compared with a serial result.
#include "team/team.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <sstream>

#include "testing/test_call.h"
#include "testing/thorough.h"
#include "testing/thread_team.h"
#include "transport/shared_mappings.h"

namespace sumac::testing {
namespace {

// ThreadSanitizer is slow.
#ifdef __SANITIZE_THREAD__
unsigned settings_of_each() { return 1; }
#else
unsigned settings_of_each() { return thorough() ? 4 : 2; }
#endif

// ---- Operations ----

// Returns the call as one rank makes it.
ChosenCall made_by(const Team& team, TestCall& call) {
  const Choice choice = team.choose(call.what, call.bytes());
  return {call.arguments(team.rank, choice.radix), call.what, choice};
}

CallSetting random_call(int ranks, Random& random) {
  static constexpr std::size_t kMost[] = {4, 60, 900, 9000};
  CallSetting setting;
  setting.what = random_collective(random);
  setting.count = 1 + below(random, kMost[random() % 4]);
  setting.ranks = ranks;
  setting.root = below(random, ranks);
  setting.in_place = random() % 2;
  setting.lists_parts = random() % 2;
  if (setting.what == Collective::allreduce && random() % 2) {
    setting.kernel = tree_kernel;
    setting.fold = Fold::unknown_tree;
  }
  return setting;
}

void report_late(void* about, double seconds) {
  if (seconds < 60) return;
  std::fprintf(stderr, "ranks wait for one another: %s\n", static_cast<const char*>(about));
  std::abort();
}

// Begins some calls at once and some one by one, and looks at them in any order.
void run_calls(Team& team, std::deque<TestCall>& calls, const WaitPolicy& policy, unsigned seed) {
  Random random(seed + static_cast<unsigned>(team.rank));
  std::deque<Work> begun;
  std::vector<Work*> open;
  const auto end_some = [&](std::size_t most) {
    Waiting waiting(policy);
    while (open.size() > most) {
      const std::size_t i = random() % open.size();
      if (!open[i]->progress()) waiting.step();
      if (!open[i]->going()) open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  for (TestCall& call : calls) {
    if (seed % 3 == 0) {
      team.work.run(made_by(team, call), {}, team.ranks(call.what), policy);
      continue;
    }
    Work& work = begun.emplace_back();
    work.set(made_by(team, call), {}, team.ranks(call.what), true);
    work.begin();
    if (work.going()) open.push_back(&work);
    end_some(random() % 5);
  }
  end_some(0);
}

// Runs the calls with one thread for each rank.
void run_all(ThreadTeam& all, std::deque<TestCall>& calls, const std::string& about,
             unsigned seed = 0) {
  all.each([&](Team& team, const Hello&) {
    WaitPolicy policy;
    policy.spins = 1;
    policy.late = report_late;
    policy.context = const_cast<char*>(about.c_str());
    run_calls(team, calls, policy, seed);
  });
  for (const TestCall& call : calls) {
    for (int r = 0; r < call.ranks; ++r) call.expect_result(r);
  }
}

// ---- Settings ----

// Places ranks in equal runs, in uneven ones, in turn, or anywhere.
std::vector<int> random_nodes(Random& random, int ranks) {
  const int nodes = 1 + below(random, std::min(ranks, 5)), style = below(random, 4);
  std::vector<int> of_rank;
  for (int r = 0; r < ranks; ++r) {
    const int styles[] = {r * nodes / ranks, std::max(0, r - ranks + nodes), r % nodes,
                          below(random, nodes)};
    of_rank.push_back(styles[style]);
  }
  return of_rank;
}

// Makes some ranks slow. Every slow rank names a host that has a fast one; rank 0 is fast.
void make_some_slow(std::vector<Place>& places, Random& random) {
  const bool whole_nodes = random() % 2;
  for (Place& place : places) {
    place.slow = whole_nodes ? place.node % 2 == 1 : below(random, 3) == 0;
  }
  places[0].slow = false;
  std::vector<std::uint64_t> fast;
  for (const Place& place : places) {
    if (!place.slow) fast.push_back(place.host);
  }
  std::map<std::uint64_t, std::uint64_t> host_of;  // a unit belongs to one host
  for (std::uint64_t host : fast) host_of[host] = host;
  for (Place& place : places) {
    if (!place.slow) continue;
    place.attached = host_of.try_emplace(place.host, fast[random() % fast.size()]).first->second;
  }
}

std::vector<Place> random_places(Random& random, int ranks, bool slow) {
  std::vector<Place> places;
  std::map<int, int> met;
  const int cores = 1 + below(random, 4);  // cores of a NUMA domain
  const bool bound = random() % 4 != 0;
  for (const int node : random_nodes(random, ranks)) {
    Place place;
    place.node = 100 + static_cast<std::uint64_t>(node);
    place.host = 500 + static_cast<std::uint64_t>(node);
    const int core = met[node]++;
    if (bound) place.at = {core, core / 2, core / cores, core / cores, core / (2 * cores)};
    if (random() % 16 == 0) place.at.numa = -1;
    places.push_back(place);
  }
  if (slow) make_some_slow(places, random);
  return places;
}

const char* random_text(Random& random) {
  static constexpr const char* kTexts[] = {
      "auto",      "flat",           "ranks:2,node",
      "numa,node", "node",           "core,l2,numa,package,node",
      "ranks:3",   "node,ranks:2",   "numa,ranks:2,node,ranks:2",
      "list:0-1",  "node,list:0/1-2"};
  return kTexts[random() % std::size(kTexts)];
}

// Returns the time that a line takes there and back between ranks of one cache, near ones or far
// ones (machine/line.h). The way in which data are stored depends on it, and a machine has one
// time.
double random_line_ns(Random& random) {
  static constexpr double kTimes[] = {50, 104, 430};
  return kTimes[random() % std::size(kTimes)];
}

// Chooses any algorithm on every kind of level, and chunks of any size.
void choose_any(Setting& setting, Random& random) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    // For a group's collectives the last name counts, among the rules the first.
    if (over_of(info.needs) == Over::levels) continue;
    if (random() % 3 == 0) {
      setting.forced += std::string(name_of(info.collective)) + ":" + info.name + ";";
    }
    if (info.needs != Needs::messages) continue;
    if (random() % 3 == 0) add_rule(setting.rules, Over::p2p, algorithm, 0, 2 + below(random, 9));
  }
  add_level_rules(setting.rules, 80, random);
}

std::string describe(const Setting& setting) {
  std::ostringstream about;
  about << "seed " << setting.seed << ", " << setting.ranks() << " ranks, " << setting.hierarchy
        << " forced '" << setting.forced << "' rules";
  for (const Rule& rule : setting.rules.rules) {
    about << ' ' << name_of(rule.collective) << ':' << info_of(rule.choice.algorithm).name << '/'
          << rule.choice.chunk << '/' << rule.choice.radix;
  }
  return about.str();
}

// ---- What is true of all of them ----

std::uint64_t complex_of(const Place& place) { return place.slow ? place.attached : place.host; }

void expect_slow_stay_at_home(const ThreadTeam& all) {
  const Setting& setting = all.setting();
  for (const auto& [way, bytes] : all.bytes()) {
    const Place& from = setting.places[static_cast<std::size_t>(way.first)];
    const Place& to = setting.places[static_cast<std::size_t>(way.second)];
    if (!from.slow && !to.slow) continue;
    ASSERT_EQ(complex_of(from), complex_of(to)) << way.first << " sent to " << way.second;
  }
}

void run_setting(Random& random, int ranks, unsigned seed, bool slow, bool shipped,
                 bool shares_memory) {
  Setting setting;
  setting.seed = seed;
  setting.shares_memory = shares_memory;
  setting.places = random_places(random, ranks, slow);
  const double line_ns = random_line_ns(random);
  setting.line_ns = [line_ns](int) { return line_ns; };
  setting.clock = kClockOfBatches;
  setting.oversubscribed = random() % 2;
  setting.slot_bytes = 1024u << random() % 4;
  setting.hierarchy = random_text(random);
  setting.design = static_cast<SlowDesign>(random() % 3);
  if (!shipped) choose_any(setting, random);
  const std::string about = describe(setting);
  SCOPED_TRACE(about);
  ThreadTeam all(setting);
  for (int r = 0; r < ranks; ++r) ASSERT_EQ(all[r].state, Team::State::together);
  std::deque<TestCall> calls;
  for (int i = 0; i < 6; ++i) {
    const TestCall& call = calls.emplace_back(random_call(ranks, random), random);
    // The rules leave it to the MPI.
    if (all[0].choose(call.what, call.bytes()).algorithm == Algorithm::native) calls.pop_back();
  }
  run_all(all, calls, about, seed);
  // In one group of all ranks, slow ones send to any rank.
  const bool flat = std::any_of(calls.begin(), calls.end(), [&](const TestCall& call) {
    const Algorithm algorithm = all[0].choose(call.what, call.bytes()).algorithm;
    return info_of(algorithm).needs == Needs::levels_messages;
  });
  if (slow && !flat) expect_slow_stay_at_home(all);
  for (int r = 0; r < ranks; ++r) {
    for (const TeamMessages& each : all[r].messages) ASSERT_FALSE(each.messages->busy());
  }
}

class Teams : public ::testing::TestWithParam<int> {
 protected:
  void run(bool slow, bool shipped, unsigned times, bool shares_memory = true) {
    for (unsigned seed = 0; seed < times * settings_of_each() && !HasFailure(); ++seed) {
      Random random(seed * 100 + static_cast<unsigned>(GetParam()));
      run_setting(random, GetParam(), seed, slow, shipped, shares_memory);
    }
  }
};

TEST_P(Teams, ShippedRules) { run(false, true, 2); }
TEST_P(Teams, AnyAlgorithms) { run(false, false, 5); }
TEST_P(Teams, SlowRanksByShippedRules) { run(true, true, 1); }
TEST_P(Teams, SlowRanksAnyAlgorithms) { run(true, false, 2); }
TEST_P(Teams, NodesThatShareNoMemory) { run(GetParam() % 2 == 0, false, 2, false); }

INSTANTIATE_TEST_SUITE_P(Sizes, Teams, ::testing::Range(2, 17));

// ---- Bytes between two nodes ----

std::size_t bytes_between_nodes(const Setting& setting, std::size_t count, Random& random) {
  ThreadTeam all(setting);
  std::deque<TestCall> calls;
  calls.emplace_back(CallSetting{.count = count, .ranks = setting.ranks()}, random);
  run_all(all, calls, "bytes between nodes");
  std::size_t sum = 0;
  for (const auto& [way, bytes] : all.bytes()) {
    const auto node = [&](int rank) { return setting.places[static_cast<std::size_t>(rank)].node; };
    if (node(way.first) != node(way.second)) sum += bytes;
  }
  return sum;
}

TEST(BytesBetweenNodes, AllreduceSendsItsBytesOnceEachWayBetweenTwoNodes) {
  Random random(1);
  for (int ranks : {2, 3, 4, 7, 8, 12}) {
    for (const char* text : {"auto", "node", "numa,node", "ranks:2,node"}) {
      for (const char* forced : {"", "allreduce:rabenseifner", "allreduce:ring",
                                 "allreduce:multi_leader", "allreduce:all_ranks"}) {
        Setting setting;
        for (int r = 0; r < ranks; ++r) {
          Place place;
          place.node = place.host = static_cast<std::uint64_t>(r % 2);
          place.at.numa = r / 4;
          setting.places.push_back(place);
        }
        setting.forced = forced;
        setting.hierarchy = text;
        for (std::size_t count : {1u, 17u, 300u, 20000u}) {
          const std::size_t sent = bytes_between_nodes(setting, count, random);
          EXPECT_LE(sent, 2 * count * sizeof(Word))
              << ranks << ' ' << text << " '" << forced << "' " << count;
          EXPECT_GE(sent, count * sizeof(Word));
        }
      }
    }
  }
}

// Each rank of a node exchanges its part: nobody sends as much as one leader would.
TEST(BytesBetweenNodes, MultiLeaderSharesTheBytesOfANode) {
  Setting setting;
  for (int r = 0; r < 8; ++r) {
    Place place;
    place.node = static_cast<std::uint64_t>(r / 4);
    setting.places.push_back(place);
  }
  setting.forced = "allreduce:multi_leader";
  setting.hierarchy = "node";
  ThreadTeam all(setting);
  Random random(1);
  std::deque<TestCall> calls;
  constexpr std::size_t kCount = 16384;
  calls.emplace_back(CallSetting{.count = kCount, .ranks = 8}, random);
  run_all(all, calls, "multi-leader");
  EXPECT_EQ(all.bytes().size(), 8u);
  for (const auto& [way, bytes] : all.bytes()) {
    EXPECT_EQ(std::abs(way.first - way.second), 4);
    EXPECT_EQ(bytes, kCount * sizeof(Word) / 4);
  }
}

// ---- All ranks of nodes ----

// Returns places on nodes of `fast` and `slow` ranks, dealt out one by one.
std::vector<Place> dealt(int nodes, int fast, int slow) {
  std::vector<Place> places;
  for (int i = 0; i < (fast + slow) * nodes; ++i) {
    Place place;
    const auto host = 1 + static_cast<std::uint64_t>(i % nodes);
    place.slow = i >= fast * nodes;
    place.node = place.host = place.slow ? 100 + host : host;
    if (place.slow) place.attached = host;
    places.push_back(place);
  }
  return places;
}

// All ranks of nodes share the work, whatever the hierarchy, whether nodes share memory or not,
// with slow ranks and without.
TEST(AllRanksOfNodes, ShareTheWork) {
  Random random(7);
  struct {
    int nodes, fast, slow;
  } const kShapes[] = {{2, 2, 0}, {2, 3, 0}, {3, 2, 1}, {4, 1, 1}, {2, 2, 3}, {2, 1, 3}};
  for (const auto& shape : kShapes) {
    for (const char* text : {"auto", "flat", "node", "ranks:2,node"}) {
      Setting setting;
      setting.places = dealt(shape.nodes, shape.fast, shape.slow);
      setting.hierarchy = text;
      setting.shares_memory = random() % 2;
      setting.seed = static_cast<unsigned>(random());
      const unsigned lines = 1 + below(random, 60);
      const bool peers = shape.slow > 0 && random() % 2;
      const Algorithm algorithms[] = {
          peers ? Algorithm::allreduce_all_ranks_peers : Algorithm::allreduce_all_ranks,
          peers ? Algorithm::reduce_all_ranks_peers : Algorithm::reduce_all_ranks,
          Algorithm::bcast_all_ranks};
      for (const Algorithm algorithm : algorithms) {
        add_rule(setting.rules, Over::levels, algorithm, lines * kCacheLine, 2);
      }
      ThreadTeam all(setting);
      std::deque<TestCall> calls;
      for (std::size_t count : {1u, 17u, 300u, 5000u, 5000u, 64u, 5000u, 20000u}) {
        const Algorithm algorithm = algorithms[below(random, 3)];
        const Collective what = info_of(algorithm).collective;
        ASSERT_EQ(all[0].choose(what, 8).algorithm, algorithm);
        const CallSetting drawn{.what = what,
                                .count = count,
                                .ranks = setting.ranks(),
                                .root = below(random, setting.ranks()),
                                .in_place = random() % 2 == 0};
        TestCall& call = calls.emplace_back(drawn, random);
        if (what == Collective::bcast) call.strided = static_cast<unsigned>(random() % 16);
      }
      run_all(all, calls, std::string("all ranks of nodes, ") + text, setting.seed);
      for (int r = 0; r < setting.ranks(); ++r) {
        EXPECT_FALSE(all[r].levels[0]->messages()->busy());
      }
    }
  }
}

// This buffer may only be read; it is at the root of a broadcast.
class ReadOnly {
 public:
  explicit ReadOnly(const Words& words)
      : bytes_(words.size() * sizeof(Word)),
        at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memcpy(at_, words.data(), bytes_);
    mprotect(at_, bytes_, PROT_READ);
  }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;
  ~ReadOnly() { munmap(at_, bytes_); }
  std::byte* at() const { return static_cast<std::byte*>(at_); }

 private:
  std::size_t bytes_;
  void* at_;
};

TEST(Broadcasts, WriteNothingToTheRootsBuffer) {
  Random random(11);
  for (const Algorithm algorithm : {Algorithm::bcast_levels, Algorithm::bcast_flat,
                                    Algorithm::bcast_all_ranks, Algorithm::bcast_passive}) {
    for (int root = 0; root < 10; ++root) {
      Setting setting;
      setting.places = dealt(2, 3, 2);
      setting.seed = static_cast<unsigned>(random());
      add_rule(setting.rules, Over::levels, algorithm, 8 * kCacheLine, 2);
      ThreadTeam all(setting);
      std::deque<TestCall> calls;
      calls.emplace_back(
          CallSetting{.what = Collective::bcast, .count = 5001, .ranks = 10, .root = root}, random);
      TestCall& call = calls[0];
      const ReadOnly buffer(call.output[static_cast<std::size_t>(root)]);
      all.each([&](Team& team, const Hello&) {
        ChosenCall made = made_by(team, call);
        if (team.rank == root) made.bcast.buffer = buffer.at();
        team.work.run(made, {}, team.ranks(Collective::bcast), WaitPolicy());
      });
      for (int r = 0; r < 10; ++r) call.expect_result(r);
    }
  }
}

// ---- Direct memory ----

// An operation goes in place on the lowest level, and one that goes another way follows in the same
// memory.
TEST(DirectLevels, OnlyOperationsThatWentDirectSaySo) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "each rank maps the flags at addresses of its own, where ThreadSanitizer does not "
         "see that they order what ranks do with one another's buffers";
#endif
  const pid_t self = getpid();
  CrossMemoryAttach memory(&self, 1);
  if (!attach_works(memory, 0, own_attach_probe())) GTEST_SKIP() << "this system refuses attach";
  // Ranks are threads, and see everything.
  const SharedMapping everything{.begin = 1, .end = UINTPTR_MAX, .offset = 1, .file = 1};
  shared_mappings().add(everything);
  Random random(3);
  for (const Algorithm other : {Algorithm::allreduce_levels, Algorithm::allreduce_multi_leader,
                                Algorithm::allreduce_all_ranks}) {
    Setting setting;
    setting.places = dealt(2, 2, 0);
    setting.hierarchy = "node";
    setting.slot_bytes = 16 << 10;  // room for the ends of the vectors, outside of whole pages
    ThreadTeam all(setting);
    std::deque<TestCall> calls;
    for (int i = 0; i < 3; ++i) calls.emplace_back(CallSetting{.count = 9000, .ranks = 4}, random);
    for (int i = 0; i < 3; ++i) {
      const bool direct = i % 2 == 0;
      all.each([&](Team& team, const Hello&) {
        ChosenCall call = made_by(team, calls[static_cast<std::size_t>(i)]);
        call.choice.algorithm = direct ? Algorithm::allreduce_levels : other;
        DirectTry attempt;
        if (direct) attempt = {Algorithm::allreduce_direct, Algorithm::native, kPage, true};
        team.work.run(call, attempt, team.ranks(Collective::allreduce), WaitPolicy());
        EXPECT_EQ(team.work.direct().went, direct) << name_of(call.collective) << ' ' << i;
      });
      for (int r = 0; r < 4; ++r) calls[static_cast<std::size_t>(i)].expect_result(r);
    }
  }
  shared_mappings().remove(everything);
}

}  // namespace
}  // namespace sumac::testing

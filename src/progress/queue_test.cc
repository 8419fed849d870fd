// SPDX-License-Identifier: BSD-3-Clause
// Random programs of blocking and nonblocking collectives run with ranks as threads. Each rank has
// a queue for every communicator it is in, an engine, and perhaps a helper thread that looks at
// them all at the same time. They run in one group or over levels, with more threads than cores.
#include "progress/queue.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <thread>

#include "progress/engine.h"
#include "strands/waiting.h"
#include "testing/endpoints.h"
#include "testing/thorough.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

// ThreadSanitizer is slow.
#ifdef __SANITIZE_THREAD__
constexpr unsigned kSettings = 1;
#else
const unsigned kSettings = thorough() ? 4 : 2;
#endif

// Says who looks at a rank's queues beside the rank itself.
enum class Help { none, rescue, busy };

void report_late(void* about, double seconds) {
  if (seconds < 100) return;
  std::fprintf(stderr, "ranks wait for one another: %s\n", static_cast<const char*>(about));
  std::abort();
}

// One rank has what a process has.
class Rank {
 public:
  Rank(std::deque<Members>& all, std::deque<ProgramStep> program, Help help)
      : all_(all), program_(std::move(program)), help_(help), endpoints_(all.size()) {
    for (std::size_t c = 0; c < all.size(); ++c) endpoints_[c].works.resize(all[c].calls.size());
  }

  Endpoint& operator[](std::size_t communicator) { return endpoints_[communicator]; }
  void watch(std::size_t communicator, bool calls_mpi) {
    engine_.watch(endpoints_[communicator].queue, calls_mpi);
  }

  void run(const std::string& about, std::uint32_t spins, std::size_t threads) {
    about_ = about;
    policy_.spins = spins;
    policy_.context = this;
    // A rank that waits drives the MPI's progress and looks at other communicators.
    policy_.drive = [](void* self) { static_cast<Rank*>(self)->engine_.progress(); };
    policy_.late = [](void* self, double seconds) {
      report_late(static_cast<Rank*>(self)->about_.data(), seconds);
    };
    for (Endpoint& endpoint : endpoints_) endpoint.queue.set_single_caller(threads == 1);
    const auto zeal = help_ == Help::busy ? Helper::Zeal::busy : Helper::Zeal::rescue;
    if (help_ != Help::none) {
      ASSERT_TRUE(helper_.start(zeal, true));
    }
    // Each thread has its own communicators, as under MPI_THREAD_MULTIPLE.
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < threads; ++t) {
      others.emplace_back([this, t, threads] { take_all(t, threads); });
    }
    take_all(0, threads);
    for (std::thread& other : others) other.join();
    helper_.stop();
    EXPECT_TRUE(engine_.idle());
    for (Endpoint& endpoint : endpoints_) {
      EXPECT_TRUE(endpoint.queue.empty());
      engine_.forget(endpoint.queue);
    }
  }

 private:
  void take_all(std::size_t thread, std::size_t threads) {
    for (const ProgramStep& step : program_) {
      if (step.communicator % threads == thread) take(step);
    }
  }

  void take(const ProgramStep& step) {
    Endpoint& endpoint = endpoints_[step.communicator];
    ProgramCall& call = all_[step.communicator].calls[step.call];
    if (step.kind == ProgramStep::Kind::block) {
      block(endpoint, call.described(endpoint.member), call.attempt(endpoint.member));
    } else {
      Work& work = endpoint.works[step.call];
      if (step.kind == ProgramStep::Kind::begin) {
        endpoint.queue.add(work, call.described(endpoint.member), call.attempt(endpoint.member),
                           endpoint.ranks, true);
        return helper_.notify();
      }
      wait(endpoint, work, step.kind == ProgramStep::Kind::wait || help_ == Help::none);
    }
    call.end(endpoint.member);
  }

  void block(Endpoint& endpoint, const ChosenCall& call, const DirectTry& direct) {
    Work& work = endpoint.blocking;
    if (endpoint.queue.empty()) return work.run(call, direct, endpoint.ranks, policy_);
    endpoint.queue.add(work, call, direct, endpoint.ranks, false);
    wait(endpoint, work, true);
  }

  // Without `looks`, the helper must bring the work to its end.
  void wait(Endpoint& endpoint, const Work& work, bool looks) {
    if (looks) return endpoint.queue.wait_for(work, policy_);
    const auto ended = [&] { return work.ended.load(std::memory_order_acquire); };
    WaitPolicy policy = policy_;
    policy.drive = nullptr;
    Waiting waiting(policy);
    while (!ended()) waiting.step();
  }

  std::deque<Members>& all_;
  std::deque<ProgramStep> program_;
  const Help help_;
  std::deque<Endpoint> endpoints_;
  std::string about_;
  WaitPolicy policy_;
  Engine engine_;
  Helper helper_{engine_};
};

void run_all(std::deque<Rank>& ranks, std::deque<Members>& all, const std::string& about,
             Random& random) {
  const std::uint32_t spins = random() % 2 ? 0 : 200;
  const std::size_t most = 1 + below(random, 3);
  std::vector<std::thread> threads;
  for (Rank& rank : ranks) threads.emplace_back([&] { rank.run(about, spins, most); });
  for (std::thread& thread : threads) thread.join();
  for (const Members& members : all) {
    for (const ProgramCall& call : members.calls) call.expect_left_alone();
  }
}

// Lets the program rely seldom on helpers that look seldom.
void lean_on(std::deque<ProgramStep>& program, Help help, Random& random) {
  for (ProgramStep& step : program) {
    const bool seldom = help == Help::rescue && random() % 8 != 0;
    if (step.kind == ProgramStep::Kind::idle && seldom) step.kind = ProgramStep::Kind::wait;
  }
}

std::deque<Rank> make_ranks(int ranks, std::deque<Members>& all,
                            const std::vector<std::size_t>& order, Help help, Random& random) {
  auto programs = random_programs(ranks, all, order, 1 + below(random, 64), random);
  std::deque<Rank> made;
  for (auto& program : programs) {
    lean_on(program, help, random);
    made.emplace_back(all, program, help);
  }
  return made;
}

struct Case {
  int ranks;
  Help help;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.ranks << " ranks, help " << static_cast<int>(c.help);
}

class Queues : public ::testing::TestWithParam<Case> {};

TEST_P(Queues, OfGroups) {
  const auto [ranks, help] = GetParam();
  for (unsigned seed = 0; seed < 4 * kSettings && !HasFailure(); ++seed) {
    Random random(seed * 100 + static_cast<unsigned>(ranks));
    std::deque<Members> all = random_communicators(ranks, 4, random);
    std::vector<std::size_t> order;
    const unsigned blocking = 1 + static_cast<unsigned>(random() % 6);
    for (int i = 0; i < 120; ++i) {
      order.push_back(below(random, all.size()));
      Members& members = all[order.back()];
      add_group_call(members.calls, static_cast<int>(members.ranks.size()),
                     random() % blocking != 0, 2500, random);
    }
    std::deque<Rank> made = make_ranks(ranks, all, order, help, random);
    std::deque<TestBlock> blocks;
    for (std::size_t c = 0; c < all.size(); ++c) {
      const TestBlock& block =
          blocks.emplace_back(static_cast<int>(all[c].ranks.size()), random() % 2 ? 8 : 4, 512);
      for (std::size_t m = 0; m < all[c].ranks.size(); ++m) {
        Rank& rank = made[static_cast<std::size_t>(all[c].ranks[m])];
        join(rank[c], block, static_cast<int>(m));
        rank.watch(c, false);
      }
    }
    const std::string about = "groups, seed " + std::to_string(seed);
    SCOPED_TRACE(about);
    run_all(made, all, about, random);
  }
}

// ---- Over levels ----

// Nodes have the same number of ranks or not, and the algorithm is any one of a hierarchy.
sumac::testing::Setting random_setting(int ranks, unsigned seed, Random& random) {
  sumac::testing::Setting setting;
  setting.seed = seed;
  setting.slot_bytes = 1024;
  const int nodes = 1 + static_cast<int>(below(random, 4));
  for (int r = 0; r < ranks; ++r) {
    Place place;
    place.node = place.host = 100 + static_cast<std::uint64_t>(random() % 2 ? r % nodes : 0);
    place.at = {r, r / 2, r / 3, r / 3, 0};
    setting.places.push_back(place);
  }
  add_level_rules(setting.rules, 60, random);
  static constexpr const char* kTexts[] = {"auto", "node", "numa,node", "ranks:2,node", "ranks:3"};
  setting.hierarchy = kTexts[below(random, std::size(kTexts))];
  return setting;
}

void add_levels_call(std::deque<ProgramCall>& calls, const Team& team, bool overlaps,
                     Random& random) {
  static constexpr Collective kWhat[] = {Collective::allreduce, Collective::reduce,
                                         Collective::bcast, Collective::barrier};
  static constexpr std::size_t kMost[] = {4, 60, 900, 4000};
  CallSetting setting;
  setting.what = kWhat[random() % 4];
  setting.count = 1 + below(random, kMost[random() % 4]);
  setting.ranks = team.size;
  setting.root = below(random, team.size);
  setting.in_place = random() % 2;
  const Choice& choice = team.choose(setting.what, setting.count * sizeof(Word));
  calls.emplace_back(setting, choice, overlaps, random);
}

TEST_P(Queues, OverLevels) {
  const auto [ranks, help] = GetParam();
  for (unsigned seed = 0; seed < 4 * kSettings && !HasFailure(); ++seed) {
    Random random(seed * 100 + static_cast<unsigned>(ranks));
    std::deque<Members> all = random_communicators(ranks, 3, random);
    std::deque<ThreadTeam> teams;
    for (const Members& members : all) {
      teams.emplace_back(random_setting(static_cast<int>(members.ranks.size()), seed, random));
    }
    std::vector<std::size_t> order;
    const unsigned blocking = 1 + static_cast<unsigned>(random() % 6);
    for (int i = 0; i < 60; ++i) {
      order.push_back(below(random, all.size()));
      Members& members = all[order.back()];
      add_levels_call(members.calls, teams[order.back()][0], random() % blocking != 0, random);
    }
    std::deque<Rank> made = make_ranks(ranks, all, order, help, random);
    for (std::size_t c = 0; c < all.size(); ++c) {
      for (std::size_t m = 0; m < all[c].ranks.size(); ++m) {
        Rank& rank = made[static_cast<std::size_t>(all[c].ranks[m])];
        rank[c].member = static_cast<int>(m);
        rank[c].ranks = teams[c][static_cast<int>(m)].ranks(Collective::allreduce);
        rank.watch(c, true);
      }
    }
    const std::string about = "levels, seed " + std::to_string(seed);
    SCOPED_TRACE(about);
    run_all(made, all, about, random);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Queues,
                         ::testing::Values(Case{2, Help::none}, Case{5, Help::none},
                                           Case{9, Help::none}, Case{2, Help::rescue},
                                           Case{4, Help::rescue}, Case{2, Help::busy},
                                           Case{3, Help::busy}, Case{6, Help::busy}));

}  // namespace
}  // namespace sumac::testing

// SPDX-License-Identifier: BSD-3-Clause
// One thread of each rank calls collectives on a team, while another one, which waits for something
// else, looks again and again whether a rank of that team is in a different call. Nobody is, so no
// job may be ended, whatever operations begin and end meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <thread>

#include "progress/engine.h"
#include "team/hang_doctor.h"
#include "testing/test_call.h"
#include "testing/thread_team.h"

namespace sumac::testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kCalls = 400;
#else
constexpr std::size_t kCalls = 4000;
#endif

// The calls of one rank: nonblocking ones, of which up to so many are under way, and behind them a
// blocking one now and then.
class Caller {
 public:
  Caller(Team& team, std::deque<TestCall>& calls) : team_(team), calls_(calls) {
    policy_.spins = 1;
    policy_.own_processor = false;
    engine_.watch(team.queue, team.sends_messages());
  }
  ~Caller() { engine_.forget(team_.queue); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void make_all(Random& shared) {
    for (TestCall& call : calls_) {
      if (shared() % 4 == 0) {
        make_blocking(call);
      } else {
        begin(call);
      }
      const std::size_t most = shared() % 4;
      while (begun_.size() > most) finish_first();
    }
    while (!begun_.empty()) finish_first();
  }

 private:
  ChosenCall made_by(TestCall& call) {
    const Choice choice = team_.choose(call.what, call.bytes());
    return {call.arguments(team_.rank, choice.radix), call.what, choice};
  }
  void begin(TestCall& call) {
    team_.queue.add(begun_.emplace_back(), made_by(call), {}, team_.ranks(call.what), true);
  }
  void make_blocking(TestCall& call) {
    if (team_.queue.empty()) {
      team_.work.run(made_by(call), {}, team_.ranks(call.what), policy_);
    } else {
      team_.queue.add(team_.work, made_by(call), {}, team_.ranks(call.what), false);
      team_.queue.wait_for(team_.work, policy_);
    }
  }
  void finish_first() {
    team_.queue.wait_for(begun_.front(), policy_);
    begun_.pop_front();
  }

  Team& team_;
  std::deque<TestCall>& calls_;
  Engine engine_;
  WaitPolicy policy_;
  std::deque<Work> begun_;
};

void expect_no_end(Setting setting) {
  Random random(setting.seed);
  std::deque<TestCall> calls;
  while (calls.size() < kCalls) {
    CallSetting call;
    call.what = random() % 2 ? Collective::allreduce : random_collective(random);
    call.count = 1 + below(random, random() % 8 ? 4 : 900);
    call.ranks = setting.ranks();
    call.root = below(random, call.ranks);
    calls.emplace_back(call, random);
  }
  ThreadTeam all(setting);
  all.each([&](Team& team, const Hello&) {
    std::atomic<bool> over{false};
    std::thread beside([&] {
      Random pause(static_cast<unsigned>(team.rank));
      while (!over.load(std::memory_order_relaxed)) {
        report_late_beside(&team, 0);
        usleep(static_cast<useconds_t>(below(pause, 50)));
      }
    });
    Random shared(setting.seed);
    Caller(team, calls).make_all(shared);
    over.store(true, std::memory_order_relaxed);
    beside.join();
  });
  for (int r = 0; r < setting.ranks(); ++r) {
    EXPECT_FALSE(all.oob(r).ended) << r;
    for (const TestCall& call : calls) call.expect_result(r);
  }
}

TEST(LateBeside, NoJobIsEndedInOneGroup) {
  for (const int ranks : {2, 3}) {
    Setting setting = setting_of(ranks, 1);
    setting.seed = static_cast<unsigned>(ranks);
    expect_no_end(setting);
  }
}

TEST(LateBeside, NoJobIsEndedOverLevels) {
  Setting setting = setting_of(4, 1);
  setting.hierarchy = "ranks:2,node";
  expect_no_end(setting);
  expect_no_end(setting_of(3, 2));
}

}  // namespace
}  // namespace sumac::testing

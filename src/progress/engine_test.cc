// SPDX-License-Identifier: BSD-3-Clause
// The tests drive queues and the engine that looks at them step by step on one thread, and test the
// helper thread.
#include "progress/engine.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <ctime>
#include <functional>
#include <map>

#include "strands/waiting.h"
#include "testing/endpoints.h"

namespace sumac::testing {
namespace {

// A barrier is made of an all-reduce here, so that something may happen in the middle of a look:
// the kernel is all that it calls.
struct Barrier : Work {
  std::function<void()> then;
  std::uint32_t in = 0, out = 0;
  ChosenCall made;

  Barrier() {
    made.choice.algorithm = Algorithm::allreduce_flat_slots;
    made.reduction.input = reinterpret_cast<const std::byte*>(&in);
    made.reduction.output = reinterpret_cast<std::byte*>(&out);
    made.reduction.count = 1;
    made.reduction.element = sizeof in;
    made.reduction.kernel = [](void* result, const void* const*, int, std::size_t) {
      const Barrier& self = *all()[result];
      if (self.then) self.then();
    };
    all()[&out] = this;
  }
  ~Barrier() { all().erase(&out); }

 private:
  static std::map<void*, Barrier*>& all() {
    static std::map<void*, Barrier*> by_output;
    return by_output;
  }
};

// Two ranks have an engine each, on a few communicators.
class Engines : public ::testing::Test {
 protected:
  static constexpr std::size_t kGroups = 3;
  Engines() {
    for (std::size_t c = 0; c < kGroups; ++c) {
      blocks_.emplace_back(2, 8, 512);
      for (int r = 0; r < 2; ++r) {
        join(at(r, c), blocks_.back(), r);
        engines_[r].watch(at(r, c).queue, c == 2);
      }
    }
  }
  Endpoint& at(int rank, std::size_t c) { return endpoints_[rank][c]; }
  void add(int rank, std::size_t c, Barrier& barrier) {
    at(rank, c).queue.add(barrier, barrier.made, {}, at(rank, c).ranks, true);
  }

  std::deque<TestBlock> blocks_;
  Endpoint endpoints_[2][kGroups];
  Engine engines_[2];
};

int count_begun(WorkQueue& queue) {
  int begun = 0;
  queue.hold([&](const Work* work) {
    for (; work; work = work->next) ++begun;
  });
  return begun;
}

TEST_F(Engines, KnowWhetherAnythingIsUnderWay) {
  Barrier own, other;
  EXPECT_TRUE(engines_[0].idle());
  EXPECT_FALSE(engines_[0].progress());
  EXPECT_EQ(engines_[0].looks(), 0u) << "looked at nothing";
  add(0, 0, own);
  EXPECT_FALSE(engines_[0].idle());
  EXPECT_FALSE(engines_[0].progress());
  EXPECT_EQ(engines_[0].looks(), 1u);
  add(1, 0, other);
  EXPECT_TRUE(engines_[0].progress());
  EXPECT_TRUE(own.ended && engines_[0].idle() && at(0, 0).queue.empty());
  EXPECT_FALSE(other.ended);
}

TEST_F(Engines, LeaveQueuesWithMessagesToWhoMayCallTheMpi) {
  Barrier own[2], other[2];
  for (std::size_t c : {0u, 1u}) {
    add(0, c + 1, own[c]);
    add(1, c + 1, other[c]);
  }
  EXPECT_TRUE(engines_[0].progress(false));
  EXPECT_TRUE(own[0].ended);
  EXPECT_FALSE(own[1].ended);
  EXPECT_FALSE(engines_[0].progress(false));
  EXPECT_TRUE(engines_[0].progress());
  EXPECT_TRUE(own[1].ended);
}

TEST_F(Engines, BeginSoManyAndKeepTheOrder) {
  constexpr int kWorks = 3 * WorkQueue::kMostInGroup + 1;
  std::deque<Barrier> own(kWorks), other(kWorks);
  std::vector<int> order;
  for (int i = 0; i < kWorks; ++i) {
    own[static_cast<std::size_t>(i)].then = [&order, i] { order.push_back(i); };
  }
  for (Barrier& barrier : own) add(0, 0, barrier);
  EXPECT_EQ(count_begun(at(0, 0).queue), WorkQueue::kMostInGroup);
  for (Barrier& barrier : other) {
    add(1, 0, barrier);
    engines_[1].progress();
    engines_[0].progress();
    EXPECT_LE(count_begun(at(0, 0).queue), WorkQueue::kMostInGroup);
  }
  while (engines_[0].progress() || engines_[1].progress()) continue;
  EXPECT_TRUE(engines_[0].idle() && engines_[1].idle());
  EXPECT_EQ(order.size(), static_cast<std::size_t>(kWorks));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// The MPI may call back from within calls that a look makes.
TEST_F(Engines, LooksWithinALookReturnAtOnce) {
  Barrier own, own_second, other;
  bool asked = false;
  own.then = [&] {
    EXPECT_FALSE(engines_[0].progress());
    EXPECT_FALSE(at(0, 0).queue.progress());
    EXPECT_FALSE(at(0, 0).queue.hold([](const Work*) {}));
    asked = true;
  };
  add(0, 0, own);
  add(0, 0, own_second);
  add(1, 0, other);
  EXPECT_TRUE(engines_[0].progress());
  EXPECT_TRUE(asked);
  EXPECT_EQ(count_begun(at(0, 0).queue), 1);
}

// An MPI may free a communicator late, from within calls that a look makes.
TEST_F(Engines, ForgetQueuesWithinALook) {
  Barrier own[2], other[2];
  own[0].then = [&] {
    for (std::size_t c : {0u, 2u}) engines_[0].forget(at(0, c).queue);
  };
  for (std::size_t c : {0u, 1u}) {
    add(0, c, own[c]);
    add(1, c, other[c]);
  }
  EXPECT_TRUE(engines_[0].progress());
  EXPECT_TRUE(own[0].ended && own[1].ended && engines_[0].idle());
  engines_[0].forget(at(0, 1).queue);
  for (std::size_t c : {2u, 0u}) {
    Barrier again, others;
    engines_[0].watch(at(0, c).queue, false);
    add(0, c, again);
    add(1, c, others);
    EXPECT_TRUE(engines_[0].progress() && again.ended);
    EXPECT_TRUE(engines_[1].progress());
  }
}

// ---- Helpers ----

// Sleeps longer than a helper waits when idle, so that it probably parks; no result depends on
// whether it does.
void let_park() {
  const timespec time{0, 150'000'000};
  nanosleep(&time, nullptr);
}

class Helpers : public Engines, public ::testing::WithParamInterface<Helper::Zeal> {
 protected:
  bool start() {
    return helpers_[0].start(GetParam(), true) && helpers_[1].start(GetParam(), true);
  }
  void stop() {
    for (Helper& helper : helpers_) helper.stop();
  }
  // Only the helpers look.
  void expect_work_done(std::size_t works) {
    std::deque<Barrier> barriers(2 * works);
    for (std::size_t i = 0; i < barriers.size(); ++i) {
      const int rank = i % 2;
      add(rank, i / 2 % kGroups, barriers[i]);
      helpers_[rank].notify();
    }
    const WaitPolicy policy;
    Waiting waiting(policy);
    for (const Barrier& barrier : barriers) {
      while (!barrier.ended.load(std::memory_order_acquire)) waiting.step();
    }
    while (!engines_[0].idle() || !engines_[1].idle()) waiting.step();
  }

  Helper helpers_[2]{Helper(engines_[0]), Helper(engines_[1])};
};

TEST_P(Helpers, StartAndStopManyTimes) {
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(start());
    ASSERT_TRUE(start()) << "once is enough";
    if (i % 3 != 0) expect_work_done(1 + static_cast<std::size_t>(i) % 20);
    stop();
    stop();
  }
}

TEST_P(Helpers, AreWokenWhenTheyHaveParked) {
  ASSERT_TRUE(start());
  for (int i = 0; i < 4; ++i) {
    let_park();
    expect_work_done(12);
  }
  stop();
}

TEST_P(Helpers, StopWhileParkedAndStartAgain) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(start());
    let_park();
    stop();
    ASSERT_TRUE(start());
    expect_work_done(3);
    stop();
  }
}

// A helper that starts finds what was begun while there was none.
TEST_P(Helpers, FindWhatWasBegunBefore) {
  Barrier barriers[2];
  for (int r : {0, 1}) {
    add(r, 0, barriers[r]);
    helpers_[r].notify();
  }
  ASSERT_TRUE(start());
  const WaitPolicy policy;
  Waiting waiting(policy);
  while (!engines_[0].idle() || !engines_[1].idle()) waiting.step();
  stop();
  EXPECT_TRUE(barriers[0].ended && barriers[1].ended);
}

// The program has protected a buffer, and lifts the protection when it is accessed.
TEST_P(Helpers, CallTheProgramsHandlerOfFaults) {
  constexpr std::size_t kPage = 4096;
  static void* page;
  static pthread_t faulting;
  page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  struct sigaction lift = {}, before = {};
  lift.sa_handler = [](int) {
    faulting = pthread_self();
    mprotect(page, kPage, PROT_READ | PROT_WRITE);
  };
  sigaction(SIGSEGV, &lift, &before);
  Barrier barriers[2];
  barriers[0].then = [] { *static_cast<volatile int*>(page) = 1; };
  for (int r : {0, 1}) add(r, 0, barriers[r]);
  ASSERT_TRUE(start());
  const WaitPolicy policy;
  Waiting waiting(policy);
  while (!engines_[0].idle() || !engines_[1].idle()) waiting.step();
  stop();
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_EQ(*static_cast<int*>(page), 1);
  EXPECT_FALSE(pthread_equal(faulting, pthread_self()));
  munmap(page, kPage);
}

INSTANTIATE_TEST_SUITE_P(Zeals, Helpers,
                         ::testing::Values(Helper::Zeal::rescue, Helper::Zeal::busy));

}  // namespace
}  // namespace sumac::testing

// SPDX-License-Identifier: BSD-3-Clause
#include "strands/strand.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "strands/task.h"
#include "strands/waiting.h"

namespace sumac {
namespace {

Task wait_twice(Strand& strand, Counter& a, Counter& b, int& trace) {
  trace = 1;
  co_await strand.until(a, 1);
  trace = 2;
  co_await strand.until(b, 5);
  trace = 3;
}

TEST(Strand, RunsAsFarAsConditionsAllow) {
  Strand strand;
  Counter a{0}, b{0};
  int trace = 0;
  strand.start(wait_twice(strand, a, b, trace));
  EXPECT_EQ(trace, 1);
  b = 5;
  EXPECT_FALSE(strand.advance());
  strand.waiting_for().for_each_missing([&](const Counter& c) { EXPECT_EQ(&c, &a); });
  a = 1;
  EXPECT_TRUE(strand.advance());
  EXPECT_EQ(trace, 3);
  EXPECT_TRUE(strand.idle());
}

TEST(Strand, PreemptionStopsAtMetConditionsToo) {
  Strand strand;
  strand.preempt_at_every_wait(true);
  Counter a{1}, b{5};
  int trace = 0;
  strand.start(wait_twice(strand, a, b, trace));
  EXPECT_EQ(trace, 0);
  for (int expected = 1; expected <= 3; ++expected) {
    EXPECT_EQ(strand.advance(), expected == 3);
    EXPECT_EQ(trace, expected);
  }
}

Task nested(Strand& strand, Counter& counter, int depth, std::vector<int>& order) {
  if (depth > 0) co_await nested(strand, counter, depth - 1, order);
  co_await strand.until(counter, static_cast<std::uint64_t>(depth));
  order.push_back(depth);
}

// The nesting is deep enough that some frames come from malloc.
TEST(Strand, AwaitedTasksRunFirstAndReturn) {
  Strand strand;
  Counter counter{0};
  std::vector<int> order;
  constexpr int kDepth = 60;
  for (int round = 0; round < 3; ++round) {
    counter = 0;
    order.clear();
    strand.start(nested(strand, counter, kDepth, order));
    while (!strand.advance()) counter.fetch_add(1);
    ASSERT_EQ(order.size(), kDepth + 1u);
    for (int i = 0; i <= kDepth; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

TEST(Strand, RunWaitsInPlace) {
  struct Opener {
    Counter a{0}, b{0};
    int polls = 0;
  } opener;
  WaitPolicy policy;
  policy.context = &opener;
  policy.drive = [](void* context) {
    auto& o = *static_cast<Opener*>(context);
    (++o.polls > 3 ? o.b : o.a) = 5;
  };
  Strand strand;
  int trace = 0;
  strand.run(wait_twice(strand, opener.a, opener.b, trace), policy);
  EXPECT_EQ(trace, 3);
  EXPECT_TRUE(strand.idle());
}

TEST(Strand, AbandonedTaskIsDestroyed) {
  Counter never{0};
  int trace = 0;
  {
    Strand strand;
    strand.start(wait_twice(strand, never, never, trace));
  }
  EXPECT_EQ(trace, 1);
}

// begin() publishes what the others wait for, and does not look at their counters.
TEST(Strand, BeginsWithoutALook) {
  Strand strand;
  Counter a{1}, b{5};
  int trace = 0;
  strand.begin(wait_twice(strand, a, b, trace));
  EXPECT_EQ(trace, 1);
  EXPECT_FALSE(strand.idle());
  EXPECT_TRUE(strand.progress());
  EXPECT_EQ(trace, 3);
  EXPECT_TRUE(strand.idle());
  EXPECT_FALSE(strand.progress());
}

Task wait_for_nobody(Strand& strand, Counter& counter, int trivial, int& trace) {
  for (trace = 0; trace < trivial; ++trace) co_await strand.until(Wait());
  co_await strand.until(counter, 1);
  trace = -1;
}

TEST(Strand, BeginsPastWhatIsKnownToBeMet) {
  Strand strand;
  Counter counter{1};
  int trace = 0;
  strand.begin(wait_for_nobody(strand, counter, 3, trace));
  EXPECT_EQ(trace, 3);
  EXPECT_FALSE(strand.idle());
  counter = 0;
  EXPECT_FALSE(strand.progress()) << "looked when it began";
  counter = 1;
  EXPECT_TRUE(strand.progress());
  EXPECT_EQ(trace, -1);
}

// The task runs to its end, since it waits for nobody; a strand used again looks at counters again.
Task wait_for_none(Strand& strand, int& trace) {
  trace = 0;
  co_await strand.until(Wait());
  trace = 1;
}

TEST(Strand, BeginsToItsEndAndIsUsedAgain) {
  Strand strand;
  Counter a{1}, b{5};
  int trace = 0;
  strand.begin(wait_for_none(strand, trace));
  EXPECT_EQ(trace, 1);
  EXPECT_TRUE(strand.idle());
  strand.start(wait_twice(strand, a, b, trace));
  EXPECT_EQ(trace, 3);
  EXPECT_TRUE(strand.idle());
}

TEST(Counter, MayHaveToBeExact) {
  const Counter counter{7};
  const auto ready = [&](std::uint64_t target) {
    return Wait(counter, 0, 1, 0, 1, target, Wait::kExact).ready();
  };
  EXPECT_TRUE(ready(7));
  EXPECT_FALSE(ready(6));
  EXPECT_FALSE(ready(8));
}

TEST(Counter, ComparesByDifference) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  Counter counter{kMax};
  EXPECT_TRUE(Wait(counter, kMax).ready());
  EXPECT_TRUE(Wait(counter, kMax - 3).ready());
  EXPECT_FALSE(Wait(counter, kMax + 2).ready());  // the counter wrapped to 1
  counter = 4;
  EXPECT_TRUE(Wait(counter, kMax).ready());
}

struct alignas(64) Line {
  Counter counter{0};
};

TEST(Wait, ReadyOnceEveryCounterIs) {
  Line lines[5];
  Wait wait(lines[0].counter, sizeof(Line), 5, 0, 5, 7);
  for (int i = 4; i >= 0; --i) {
    EXPECT_FALSE(wait.ready());
    lines[i].counter = 7;
  }
  EXPECT_TRUE(wait.ready());
  EXPECT_TRUE(Wait().ready());
}

TEST(Wait, GoesRoundAndLeavesOneOut) {
  for (int own = 0; own < 5; ++own) {
    Line lines[5];
    Wait wait(lines[0].counter, sizeof(Line), 5, own + 1, 4, 7);
    for (int i = 0; i < 5; ++i) {
      if (i == own) continue;
      int missing = 0;
      wait.for_each_missing([&](const Counter& c) {
        EXPECT_NE(&c, &lines[own].counter);
        ++missing;
      });
      EXPECT_EQ(missing, i < own ? 4 - i : 5 - i);
      EXPECT_FALSE(wait.ready());
      lines[i].counter = 8;
    }
    EXPECT_TRUE(wait.ready());
  }
}

struct Calls {
  int driven = 0;
  int late = 0;
};

TEST(Waiting, DrivesAndReports) {
  Calls calls;
  for (std::uint32_t spins : {0u, 1000u}) {
    calls = {};
    WaitPolicy policy;
    policy.spins = spins;
    policy.context = &calls;
    policy.drive = [](void* c) { static_cast<Calls*>(c)->driven++; };
    policy.late = [](void* c, double) { static_cast<Calls*>(c)->late++; };
    Waiting waiting(policy);
    while (calls.late < 2) waiting.step();
    EXPECT_GT(calls.driven, 10);
  }
}

TEST(Waiting, LeavesItToADriveThatWaits) {
  Calls calls;
  WaitPolicy policy;
  policy.context = &calls;
  policy.drive = [](void* c) { static_cast<Calls*>(c)->driven++; };
  policy.drive_waits = true;
  Waiting waiting(policy);
  for (int i = 1; i <= 20; ++i) {
    waiting.step();
    EXPECT_EQ(calls.driven, i);
  }
}

}  // namespace
}  // namespace sumac

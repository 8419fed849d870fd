// SPDX-License-Identifier: BSD-3-Clause
// The tests check who takes which piece: threads come early, late, and after everything is done.
#include "tasks/pieces.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cfenv>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

namespace sumac {
namespace {

// Counts, without atomics, how often each piece was done, so that ThreadSanitizer sees whether
// wait() is all that is needed to read the results.
struct Counts {
  std::vector<int> done;

  explicit Counts(std::size_t pieces) : done(pieces, 0) {}
  PieceWork work() {
    return {[](void* data, std::size_t piece) { ++static_cast<Counts*>(data)->done[piece]; }, this,
            done.size(), wait_for};
  }
  static void wait_for(const std::atomic<std::size_t>& done, std::size_t target) {
    while (done.load(std::memory_order_acquire) != target) sched_yield();
  }
  void expect_once_each() const {
    for (std::size_t piece = 0; piece < done.size(); ++piece) {
      ASSERT_EQ(done[piece], 1) << "piece " << piece << " of " << done.size();
    }
  }
};

TEST(Pieces, WhoOpensDoesThemAllWhenNobodyComes) {
  for (std::size_t pieces : {0, 1, 2, 7, 1000}) {
    Counts counts(pieces);
    Pieces* const opened = Pieces::open(counts.work());
    ASSERT_NE(opened, nullptr);
    Pieces::help(opened->invite());
    opened->wait();
    opened->close();
    counts.expect_once_each();
  }
}

TEST(Pieces, AnInvitationIsGoodForOneWorkOnly) {
  Counts first(3), second(3);
  Pieces* const opened = Pieces::open(first.work());
  const Pieces::Invitation old = opened->invite();
  Pieces::help(old);
  opened->wait();
  opened->close();
  Pieces* const again = Pieces::open(second.work());
  ASSERT_EQ(again, opened);
  Pieces::help(old);
  EXPECT_EQ(second.done, std::vector<int>(3, 0));
  Pieces::help(again->invite());
  again->wait();
  again->close();
  second.expect_once_each();
}

TEST(Pieces, ThereIsAnEndToThem) {
  Counts counts(1);
  std::vector<Pieces*> opened;
  while (Pieces* const pieces = Pieces::open(counts.work())) opened.push_back(pieces);
  EXPECT_GE(opened.size(), 16u);
  for (Pieces* const pieces : opened) pieces->close();
  Pieces* const again = Pieces::open(counts.work());
  ASSERT_NE(again, nullptr);
  again->close();
}

TEST(Pieces, WhoOpensWaitsForWhatOthersHaveTaken) {
  struct Slow {
    std::atomic<bool> taken{false};
    bool done[2] = {};
  } slow;
  const PieceWork work{[](void* data, std::size_t piece) {
                         Slow& it = *static_cast<Slow*>(data);
                         if (piece == 0) {
                           it.taken = true;
                           std::this_thread::sleep_for(std::chrono::milliseconds(20));
                         }
                         it.done[piece] = true;
                       },
                       &slow, 2, Counts::wait_for};
  Pieces* const opened = Pieces::open(work);
  std::thread helper([&] { Pieces::help(opened->invite()); });
  while (!slow.taken) sched_yield();
  Pieces::help(opened->invite());
  opened->wait();
  EXPECT_TRUE(slow.done[0] && slow.done[1]);
  opened->close();
  helper.join();
}

// Returns a quotient that is larger if it is rounded up than if it is rounded down.
double third() {
  volatile double one = 1, three = 3;
  return one / three;
}

// A helper calculates in the environment of the thread that opened the work, and has its own one
// again afterwards, flags included.
TEST(Pieces, AreRoundedAsTheOneWhoOpensRounds) {
  struct Work {
    std::thread::id helper;
    std::atomic<bool> helped{false};
    double results[16] = {};
  } shared;
  const PieceWork work{[](void* data, std::size_t piece) {
                         Work& it = *static_cast<Work*>(data);
                         it.results[piece] = third();
                         if (std::this_thread::get_id() == it.helper) it.helped = true;
                         while (!it.helped) sched_yield();
                       },
                       &shared, 16, Counts::wait_for};
  const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (const int mode : modes) {
    for (const int others : modes) {
      std::fesetround(mode);
      const double expected = third();
      shared.helped = false;
      Pieces* const opened = Pieces::open(work);
      std::atomic<bool> known{false};
      std::thread helper([&, others] {
        std::fesetround(others);
        std::feclearexcept(FE_ALL_EXCEPT);
        while (!known) sched_yield();
        Pieces::help(opened->invite());
        EXPECT_EQ(std::fegetround(), others);
        EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
      });
      shared.helper = helper.get_id();
      known = true;
      Pieces::help(opened->invite());
      opened->wait();
      opened->close();
      helper.join();
      std::fesetround(FE_TONEAREST);
      for (const double result : shared.results) EXPECT_EQ(result, expected);
    }
  }
}

// Two threads open works all the time; three accept whatever invitation was written last, whether
// or not its work was over long ago.
TEST(Pieces, HelpersMayComeAtAnyTime) {
  constexpr int kOwners = 2, kHelpers = 3, kWorks = 3000;
  std::atomic<Pieces*> invited[kOwners] = {};
  std::atomic<std::uint64_t> numbers[kOwners] = {};
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int h = 0; h < kHelpers; ++h) {
    threads.emplace_back([&, h] {
      std::minstd_rand random(static_cast<unsigned>(h + 1));
      Pieces::Invitation kept{};
      while (!over) {
        const int owner = static_cast<int>(random() % kOwners);
        if (Pieces* const pieces = invited[owner].load(std::memory_order_acquire)) {
          // The number may belong to another work than the address; such an invitation is merely
          // useless.
          Pieces::help({pieces, numbers[owner].load(std::memory_order_acquire)});
          if (kept.pieces) Pieces::help(kept);
          if (random() % 10 == 0) kept = {pieces, numbers[owner]};
        }
        if (random() % 50 == 0) sched_yield();
      }
    });
  }
  std::vector<std::thread> owners;
  for (int o = 0; o < kOwners; ++o) {
    owners.emplace_back([&, o] {
      std::minstd_rand random(static_cast<unsigned>(100 + o));
      for (int n = 0; n < kWorks; ++n) {
        Counts counts(random() % 40);
        Pieces* const opened = Pieces::open(counts.work());
        ASSERT_NE(opened, nullptr);
        const Pieces::Invitation invitation = opened->invite();
        invited[o] = invitation.pieces;
        numbers[o] = invitation.number;
        if (random() % 4 == 0) sched_yield();
        Pieces::help(invitation);
        opened->wait();
        opened->close();
        counts.expect_once_each();
      }
    });
  }
  for (std::thread& owner : owners) owner.join();
  over = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The tests check when a communicator is set up, for every order of calls, and what is found by a
// handle that ends and comes back. What is below is in calls/settled_below_test.cc.
#include "interpose/process/communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "interpose/calls/settled_test.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/entry.h"

namespace sumac {
namespace {

using State = Communicator::State;
constexpr MpiComm kComm{0x30};

class Communicators : public testing::Test {
 protected:
  void SetUp() override { around_decide = {}; }
  void TearDown() override {
    free_communicator(kComm.bits);
    options = {};
    thread_state().freeing = 0;
  }
};

// A call may wait for the others if none of them can be late. From the second call on the ranks
// compare their options in the first such call, and from `build_after` on they set up in the next.
// Where each rank knows only whether it has heard of the others, they are asked: once there are
// enough calls, and then each time that there are twice as many. Ranks that have met before look
// for an idle team in the first call that may wait, and otherwise set up once their calls weigh
// enough.
TEST_F(Communicators, AreSetUpInTheFirstCallOfEnoughThatMayWait) {
  std::mt19937 random(1);
  constexpr Others kOthers[] = {Others::may_be_late, Others::will_come, Others::have_come,
                                Others::heard_of, Others::not_heard_of};
  for (int program = 0; program < 4000; ++program) {
    options.build_after = 1 + random() % 6;
    options.known_after = 1 + random() % 30;
    const int meet_at = random() % 2 ? 100 : static_cast<int>(random() % 20);
    around_decide.has_idle = random() % 4 == 0;
    std::uint64_t calls = 0, own_weight = 0, weighs = 0, asks_at = 0;
    bool agreed = false, is_up = false, known = false, sought = false;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t more = 1 + random() % 2, weight = 1 + random() % 3;
      around_decide.have_met = i >= meet_at;
      const Others others = kOthers[random() % (program % 2 ? 5 : 3)];
      calls += more;
      const bool asked = is_asked(others);
      const bool waits = others != Others::may_be_late && others != Others::not_heard_of;
      const bool may = waits && !asked && !is_up, knew = known;
      if (may) own_weight += weight;
      const bool worth = own_weight >= kSeekAfter;
      known |= may && around_decide.have_met && (worth || calls >= kAgreeAfter);
      if (may && known) weighs += knew ? weight : own_weight;
      const bool weighs_enough = may && worth && weighs >= options.known_after;
      const bool enough = calls >= std::max(kAgreeAfter, options.build_after) &&
                          (!known || asked || calls >= options.known_after || weighs_enough);
      const bool compares = calls >= kAgreeAfter && !agreed && !known,
                 seeks = known && !sought && worth;
      const bool asks = !is_up && asked && enough && calls >= asks_at;
      const bool meets = asked ? asks && waits : !is_up && waits && (compares || seeks || enough);
      if (asks) asks_at = 2 * calls;
      const int before = around_decide.meetings, declined = around_decide.declined;
      count_call(kComm, more, others, weight);
      ASSERT_EQ(around_decide.meetings - before, meets) << program << ", call " << i;
      ASSERT_EQ(around_decide.declined - declined, asks && !waits) << program << ", call " << i;
      EXPECT_TRUE(!meets || around_decide.others == others);
      agreed |= meets && !asked;
      sought |= meets && !asked;
      const bool takes_up = meets && !asked && known && around_decide.has_idle;
      is_up |= takes_up || (meets && enough);
      const Communicator& c = *find_communicator(kComm);
      EXPECT_EQ(c.state, is_up ? State::together : State::counting);
      const bool lacks = !is_up && !waits && enough;
      EXPECT_TRUE(!lacks || c.reason == Reason::no_call_of_all);
    }
    free_communicator(kComm.bits);
  }
}

TEST_F(Communicators, OfOneRankMeetNobody) {
  around_decide.alone = true;
  for (int i = 0; i < 4; ++i) count_call(kComm, 1, Others::have_come, 1);
  EXPECT_EQ(around_decide.meetings, 0);
  EXPECT_EQ(find_communicator(kComm)->state, State::alone);
}

TEST_F(Communicators, AHandleThatComesBackIsAnother) {
  EXPECT_EQ(find_communicator(kComm), nullptr);
  KnownGroup group{Board(nullptr, 2, 0)};
  for (int round = 0; round < 3; ++round) {
    Communicator* const c = find_or_remember(kComm);
    ASSERT_NE(c, nullptr);
    EXPECT_EQ(find_communicator(kComm), c);
    EXPECT_EQ(c->state, State::counting);
    EXPECT_EQ(c->calls, 0u);
    EXPECT_FALSE(c->agreed || c->known || c->sought);
    EXPECT_EQ(c->settled.count, -1);
    c->calls = 7;
    c->agreed = c->sought = true;
    c->known = &group;
    c->checkable = 3;
    c->settled.count = 1;
    c->state = State::handed_down;
    free_communicator(kComm.bits);
    EXPECT_EQ(find_communicator(kComm), nullptr);
  }
}

TEST_F(Communicators, AStateThatIsInUseIsNotGivenToAnother) {
  Communicator* const c = find_or_remember(kComm);
  ++c->keepers;  // as a persistent request does
  free_communicator(kComm.bits);
  Communicator* const other = find_or_remember(kComm);
  EXPECT_NE(other, c);
  drop_keeper(*c);
  free_communicator(kComm.bits);
}

TEST_F(Communicators, WhatIsBeingFreedOrCannotBeWatchedIsNotRemembered) {
  thread_state().freeing = kComm.bits;
  EXPECT_EQ(find_or_remember(kComm), nullptr);
  thread_state().freeing = 0;
  const auto set_attribute = mpi.Comm_set_attr;
  mpi.Comm_set_attr = [](MpiComm, int, void*) { return kMpi.err_other; };
  EXPECT_EQ(find_or_remember(kComm), nullptr);
  EXPECT_EQ(find_communicator(kComm), nullptr);
  mpi.Comm_set_attr = set_attribute;
  EXPECT_NE(find_or_remember(kComm), nullptr);
}

}  // namespace
}  // namespace sumac

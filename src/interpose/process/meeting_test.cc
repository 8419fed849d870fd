// SPDX-License-Identifier: BSD-3-Clause
// The tests check that all ranks of a communicator agree on how a meeting ends: whatever the order
// in which they come, which of them do not wait, whether one runs another build, whether they have
// a board, and which have lost the idle team that the others still have. The ranks take turns at
// every poll.
#include "interpose/process/meeting.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/meeting_below_test.h"
#include "observe/log.h"
#include "testing/fibers.h"

namespace sumac {
namespace {

using testing::Fibers;
using Random = std::minstd_rand;
using State = Communicator::State;

constexpr std::size_t kComms = 3;
constexpr MpiComm kComm{0x10000};

// In a step, all ranks make a call on one of the communicators, or free it and make it anew. All
// communicators have the same ranks.
struct Step {
  std::size_t comm = 0;
  bool ends = false;
  std::uint64_t calls = 0, weight = 0;
  std::vector<Others> others;  // one for each rank
  std::vector<bool> light;     // few bytes came to the rank in calls of which only some may wait
  std::vector<bool> loses;     // the rank can no longer take its idle teams up
};

struct Program {
  std::size_t ranks = 2;
  int odd = -1;  // this rank runs another build
  bool loses = false, makes_boards = false;
  std::vector<Step> steps;
};

Program random_program(Random& random) {
  Program program;
  program.ranks = 2 + random() % 5;
  if (random() % 4 == 0) program.odd = static_cast<int>(random() % program.ranks);
  program.loses = random() % 2 == 0;
  program.makes_boards = random() % 2 == 0;
  for (int i = 0; i < 24; ++i) {
    Step step{random() % kComms, random() % 3 == 0, 2 + random() % 7, random() % 14, {}, {}, {}};
    const bool asked = random() % 2 == 0, some_lack = random() % 2 == 0;
    const Others all = random() % 2 == 0 ? Others::will_come : Others::have_come;
    for (std::size_t r = 0; r < program.ranks; ++r) {
      const bool lacks = some_lack && random() % 3 == 0;
      const Others word = lacks ? Others::not_heard_of : Others::heard_of;
      step.others.push_back(asked ? word : all);
      step.light.push_back(some_lack && random() % 3 == 0);
      step.loses.push_back(program.loses && random() % 6 == 0);
    }
    program.steps.push_back(step);
  }
  return program;
}

// A rank is left with this after a step.
struct Outcome {
  State state;
  Reason reason;
  std::uint64_t team;
  int made;  // set-ups
  bool operator==(const Outcome&) const = default;
};

using Communicators = std::vector<std::unique_ptr<Communicator>>;

Communicators make_communicators(const Program& program, int rank) {
  Communicators made;
  for (std::size_t i = 0; i < kComms; ++i) {
    Communicator& c = *made.emplace_back(std::make_unique<Communicator>());
    c.comm = {kComm.bits + i};
    c.rank = rank;
    c.size = static_cast<int>(program.ranks);
  }
  return made;
}

void end(Communicator& c) {
  end_declined(&c);
  idle_teams().keep(c);
  c.reset();
  c.known = nullptr;
}

// This rank's process changes, or has no room for idle teams.
void lose(RankProcess& process, int step) {
  if (step % 2 == 0) ++process.runtimes;
  if (step % 2 == 1) process.idle.give_up_all(team_context());
}

std::vector<Outcome> run_rank(const Program& program, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  RankProcess& process = around_meeting.ranks[own];
  const Communicators all = make_communicators(program, rank);
  std::vector<Outcome> outcomes;
  for (const Step& step : program.steps) {
    Communicator& c = *all[step.comm];
    const int made = process.made;
    if (step.loses[own]) lose(process, process.step);
    if (step.ends) {
      end(c);
    } else if (c.state == State::counting) {
      c.calls = step.calls;
      if (may_wait(step.others[own]) && !c.known) c.known = known_group_of(c);
      c.weight = kSeekAfter;
      c.own_weight = step.light[own] ? 0 : options.known_after;
      if (c.known) c.known->weight = step.weight;
      set_up(c, step.others[own]);
    }
    outcomes.push_back({c.state, c.reason, c.trace_group, process.made - made});
    ++process.step;
  }
  end_declined(nullptr);
  process.idle.give_up_all(team_context());
  return outcomes;
}

// This is what must hold, of all ranks at once.
class Expected {
 public:
  explicit Expected(const Program& program) : program_(program) {}

  void check(const Step& step, const Outcome& outcome) {
    State& state = states_[step.comm];
    std::uint64_t& team = teams_[step.comm];
    bool meets = !step.ends && state == State::counting;
    for (const Others others : step.others) meets &= others != Others::not_heard_of;
    const bool judges = has_board_ && is_asked(step.others[0]);
    for (const bool light : step.light) {
      meets &= !judges || !light || step.calls >= options.known_after;
    }
    bool& known = known_[step.comm];
    const bool waits = may_wait(step.others[0]);
    known |= meets && waits && has_board_;
    const bool weighs_enough = waits && step.weight >= options.known_after;
    const bool enough = step.calls >= options.build_after &&
                        (!known || !waits || step.calls >= options.known_after || weighs_enough);
    const bool on_board = known && waits, agrees_only = !on_board && !enough;
    if (step.ends) {
      if (state == State::together) idle_.insert(team);
      state = State::counting;
      team = 0;
      known = false;
    } else if (meets && on_board && !enough && !takes_up(outcome)) {
      EXPECT_EQ(outcome.made, 0);
    } else if (meets && program_.odd >= 0) {
      state = State::handed_down;
      EXPECT_EQ(outcome.reason, Reason::builds_differ);
    } else if (meets && !agrees_only) {
      state = State::together;
      check_team(outcome);
      team = outcome.team;
    }
    EXPECT_EQ(outcome.state, state);
    const bool same_build = program_.odd < 0;
    EXPECT_TRUE(state != State::together || outcome.team == team);
    const bool sets_up = meets && same_build && !on_board;
    EXPECT_TRUE((meets && same_build && !agrees_only) || outcome.made == sets_up);
    has_board_ |= program_.makes_boards && outcome.made && state == State::together;
  }

 private:
  // Ranks on a board that keep what they have take up an idle team if there is one.
  bool takes_up(const Outcome& outcome) const {
    return program_.loses ? outcome.state == State::together : !idle_.empty();
  }
  // A team that all have kept is taken up. If some may have lost theirs, a new one is made.
  void check_team(const Outcome& outcome) {
    EXPECT_TRUE(program_.loses || outcome.made == idle_.empty());
    if (outcome.made) return;
    EXPECT_EQ(idle_.erase(outcome.team), 1u) << "it is a team that has ended";
  }

  const Program& program_;
  State states_[kComms] = {};
  bool known_[kComms] = {}, has_board_ = false;
  std::uint64_t teams_[kComms] = {};
  std::multiset<std::uint64_t> idle_;  // teams that have ended
};

TEST(Meeting, EndsAlikeOnAllRanks) {
  for (unsigned seed = 1; seed <= 3000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Program program = random_program(random);
    begin_meetings(program.ranks);
    around_meeting.makes_boards = program.makes_boards;
    for (RankProcess& each : around_meeting.ranks) each.build = seed * 0x9e3779b97f4a7c15;
    if (program.odd >= 0) {
      around_meeting.ranks[static_cast<std::size_t>(program.odd)].build ^= 1ull << random() % 64;
    }
    std::vector<std::vector<Outcome>> outcomes(program.ranks);
    Fibers(seed).run(static_cast<int>(program.ranks), [&](int rank) {
      outcomes[static_cast<std::size_t>(rank)] = run_rank(program, rank);
    });
    EXPECT_EQ(around_meeting.under_way, 0) << "nobody waits for these words";
    Expected expected(program);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      expected.check(program.steps[i], outcomes[0][i]);
      for (const auto& each : outcomes) EXPECT_EQ(each[i], outcomes[0][i]);
    }
  }
}

// A rank without Sumac never comes. It is waited for until it is known that it never will.
TEST(Meeting, WaitsForOthersAndSaysSo) {
  for (const bool entered : {false, true}) {
    for (const char* unseen : {"", "2"}) {
      begin_meetings(3);
      options.hang_seconds = 3;
      around_meeting.unseen = unseen;
      const bool ends = entered && *unseen;
      const Others others = entered ? Others::have_come : Others::will_come;
      std::vector<State> states(3);
      ::testing::internal::CaptureStderr();
      Fibers(1).run(3, [&](int rank) {
        Communicator c;
        c.comm = kComm;
        c.rank = rank;
        c.size = 3;
        c.calls = options.build_after;
        const auto waited = [] { return around_meeting.now_ns / 1'000'000'000; };
        while (rank == 2 && !around_meeting.absent_comes && waited() < 9) yield_to_others();
        set_up(c, others);
        states[static_cast<std::size_t>(rank)] = c.state;
      });
      const std::string said = ::testing::internal::GetCapturedStderr();
      EXPECT_EQ(around_meeting.ranks[0].ended_job, ends);
      EXPECT_FALSE(around_meeting.ranks[1].ended_job) << "one speaks for the node";
      EXPECT_NE(said.find(ends ? "error[set-up]" : "warning[set-up]"), said.npos);
      EXPECT_EQ(said.find("[set-up]"), said.rfind("[set-up]")) << said;
      EXPECT_EQ(states, std::vector<State>(3, State::together));
    }
  }
}

TEST(Meeting, MembersOfAnotherWorldAreNotWaitedFor) {
  begin_meetings(2);
  around_meeting.other_world = true;
  Fibers(1).run(1, [](int) {
    for (const Others others : {Others::will_come, Others::not_heard_of}) {
      Communicator c;
      set_up(c, others);
      EXPECT_EQ(c.state, State::handed_down);
      EXPECT_EQ(c.reason, Reason::other_world);
    }
  });
  EXPECT_EQ(around_meeting.under_way, 0);
}

TEST(Meeting, NeedsNoOthersOfOneRankOrOfTwoGroups) {
  for (const int size : {1, 2, 5}) {
    for (const bool inter : {false, true}) {
      begin_meetings(1);
      around_meeting.inter = inter;
      around_meeting.size = size;
      Communicator c;
      c.comm = kComm;
      EXPECT_EQ(needs_no_others(c), inter || size == 1);
      EXPECT_EQ(c.state, inter ? State::handed_down : size == 1 ? State::alone : State::counting);
      EXPECT_TRUE(!inter || c.reason == Reason::intercommunicator);
    }
  }
}

}  // namespace
}  // namespace sumac

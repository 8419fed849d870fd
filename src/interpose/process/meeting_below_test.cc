// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/meeting_below_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/attachable.h"
#include "interpose/process/meeting.h"
#include "interpose/process/members.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/progress_hooks.h"
#include "interpose/process/statistics.h"
#include "interpose/process/trace_choices.h"
#include "observe/log.h"
#include "team/set_up.h"
#include "testing/fibers.h"

namespace sumac {
namespace {

using testing::Fibers;

constexpr std::uint64_t kPoll = 5'000'000;  // ns

RankProcess& own() { return around_meeting.ranks[static_cast<std::size_t>(Fibers::current())]; }

// This is one reduction of words. A result is written where its rank wants it once all have come.
struct Reduction {
  std::vector<std::int64_t> least;
  std::vector<std::int64_t*> results;
};
std::map<std::uintptr_t, std::deque<Reduction>> reductions;   // the key is a communicator
std::map<std::pair<std::uintptr_t, int>, std::size_t> calls;  // each rank has made so many
std::map<std::uintptr_t, const Reduction*> requests;          // the key is a handle

bool has_ended(const Reduction& reduction) {
  return reduction.results.size() == around_meeting.ranks.size();
}

int take_words(const void* in, void* out, int count, MpiDatatype type, MpiOp op, MpiComm comm,
               RequestPointer request) {
  EXPECT_EQ(count, 4) << "every release has these words";
  EXPECT_EQ(type, kMpi.int64_t);
  EXPECT_EQ(op, kMpi.min);
  std::deque<Reduction>& all = reductions[comm.bits];
  const std::size_t number = calls[{comm.bits, Fibers::current()}]++;
  if (number == all.size()) all.emplace_back();
  Reduction& made = all[number];
  const auto* words = static_cast<const std::int64_t*>(in);
  made.least.resize(static_cast<std::size_t>(count), INT64_MAX);
  for (std::size_t i = 0; i < made.least.size(); ++i) {
    made.least[i] = std::min(made.least[i], words[i]);
  }
  made.results.push_back(static_cast<std::int64_t*>(out));
  if (has_ended(made)) {
    for (std::int64_t* result : made.results) std::ranges::copy(made.least, result);
  }
  const MpiRequest handle{1 + requests.size()};
  requests[handle.bits] = &made;
  request.set(handle);
  ++around_meeting.under_way;
  return kMpiSuccess;
}

int test(RequestPointer request, int* done, StatusPointer) {
  *done = has_ended(*requests.at((*request).bits));
  if (!*done) return kMpiSuccess;
  request.set(kMpi.request_null);
  --around_meeting.under_way;
  return kMpiSuccess;
}

const WaitKernel kPolls{
    .now_ns = [] { return around_meeting.now_ns; },
    .yield = yield_to_others,
    .sleep = [](std::uint64_t) { ADD_FAILURE() << "only ranks of other nodes may be late"; },
    .crowded = [](std::uint64_t) { return false; },
};

}  // namespace

void begin_meetings(std::size_t ranks) {
  options = {};
  options.build_after = 4;
  options.known_after = 8;
  options.hang_seconds = UINT64_MAX;
  mpi.Iallreduce = take_words;
  mpi.Test = test;
  mpi.Comm_test_inter = [](MpiComm, int* inter) {
    return *inter = around_meeting.inter, kMpiSuccess;
  };
  mpi.Comm_size = [](MpiComm, int* size) { return *size = around_meeting.size, kMpiSuccess; };
  mpi.Comm_rank = [](MpiComm, int* rank) { return *rank = 0, kMpiSuccess; };
  around_meeting = AroundMeeting();
  around_meeting.ranks = std::vector<RankProcess>(ranks);
  reductions.clear();
  calls.clear();
  requests.clear();
}

void yield_to_others() {
  around_meeting.now_ns += kPoll;
  Fibers::yield();
}

std::uint64_t build_hash() { return own().build; }
IdleTeams& idle_teams() { return own().idle; }
KnownGroups& known_groups() { return own().groups; }
WaitPolicy wait_policy_of_process() {
  WaitPolicy policy;
  policy.kernel = &kPolls;
  return policy;
}
void set_wait_policy_of_process(const WaitPolicy&) {}

bool members_may_be_served(Communicator& c, Reason& reason) {
  c.identity = 7;
  reason = Reason::other_world;
  return !around_meeting.other_world;
}
std::string not_seen(const Communicator&) { return around_meeting.unseen; }
bool speaks_for_node(const Communicator& c) { return c.rank == 0; }
// The test goes on, so the rank that was awaited comes.
void end_job(MpiComm) { own().ended_job = around_meeting.absent_comes = true; }

// The ranks that meet here make the same step, which gives the team its number.
void set_up_team(Team& team, const Hello&, bool agree_only) {
  ++own().made;
  team.trace_group = 1 + static_cast<std::uint64_t>(own().step) * 29 % 64;
  if (agree_only) return;
  team.state = Team::State::together;
  team.may_be_idle = true;
  if (!around_meeting.makes_boards) return;
  std::vector<std::byte>& memory = around_meeting.board_memory;
  if (memory.empty()) memory.resize(Board::bytes_for(team.size) + kFalseSharingRange);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  own().groups.keep(team.identity, Board(memory.data() + -address % kFalseSharingRange, team.size,
                                         Fibers::current()));
}
void hand_down_for_good(Team& team, Reason reason) {
  team.state = Team::State::handed_down;
  team.reason = reason;
}

Hello own_hello(const Context&, const std::string&) { return {}; }
std::uint64_t kept_warnings_hash() { return 0; }

void look_for_devices() {}
std::uint64_t number_of_runtimes() { return own().runtimes; }
std::uint64_t known_types_hash() { return 1; }
FileIdentity own_memory_file() { return {}; }
std::int64_t own_segment() { return 0; }
bool can_progress_messages() { return true; }
bool threads_may_call_mpi() { return false; }
int MpiMessages::live() { return 0; }
bool world_is_up() { return false; }
void note_agreed_reports() {}
void trace_choices(const Communicator&, Collective, const ChoiceTable&, const char*) {}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/meeting.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/attachable.h"
#include "interpose/process/members.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/process.h"
#include "interpose/process/progress_hooks.h"
#include "interpose/process/statistics.h"
#include "interpose/process/trace_choices.h"
#include "machine/machine.h"
#include "observe/log.h"
#include "team/set_up.h"
#include "team/warnings.h"

namespace sumac {
namespace {

struct Meeting {
  Communicator& c;
  const bool all_entered;
  std::uint64_t seconds = 0;  // counted while this process ran: a job may be suspended
};

void drive(void* context) { static_cast<Meeting*>(context)->c.by_mpi.drive(); }

// The wait calls this once a second.
void report_missing(void* context, double) {
  auto& meeting = *static_cast<Meeting*>(context);
  const Communicator& c = meeting.c;
  if (++meeting.seconds != options.hang_seconds || !speaks_for_node(c)) return;
  const std::string unseen = not_seen(c);
  if (unseen.empty()) {
    log_here(
        "warning[set-up]: rank %d of %d has waited %llu s for others to set the communicator up",
        c.rank, c.size, static_cast<unsigned long long>(meeting.seconds));
    return;
  }
  const auto write = meeting.all_entered ? log_error : log_here;
  write(
      "%s[set-up]: rank %d of %d has waited %llu s for others to set the communicator up. A rank "
      "without Sumac never will%s; these have not been seen to have it: %s. Start every program of "
      "the job with 'sumac exec', on every host",
      meeting.all_entered ? "error" : "warning", c.rank, c.size,
      static_cast<unsigned long long>(meeting.seconds),
      meeting.all_entered ? ", and all are in the call, so the job is ended" : "", unseen.c_str());
  if (meeting.all_entered) end_job(c.comm);
}

// The words of a meeting, of which the least are taken. They travel as signed numbers of the same
// order.
struct Words {
  static constexpr int kCount = 4;
  using Numbers = std::uint64_t[kCount];

  explicit Words(const Numbers& numbers) {
    for (int i = 0; i < kCount; ++i) own[i] = in_signed_order(numbers[i]);
  }
  void tell(const Communicator& c) {
    mpi.Iallreduce(own, least, kCount, kMpi.int64_t, kMpi.min, c.comm, one(request));
  }
  void wait(const WaitPolicy& policy) {
    Waiting waiting(policy);
    for (int done = 0;;) {
      mpi.Test(one(request), &done, status_ignore());
      if (done) break;
      waiting.step(false);
    }
    for (std::uint64_t& word : least) word = in_signed_order(word);
  }

  Numbers own, least = {};
  MpiRequest request = kMpi.request_null;
};

// These meetings of other ranks go on without this one.
struct Declined {
  const Communicator* communicator;
  std::unique_ptr<Words> words;
};
std::mutex declined_mutex;
std::vector<Declined>& all_declined() {
  static auto* meetings = new std::vector<Declined>;  // never destroyed, like the arena
  return *meetings;
}

// Tells the other ranks that this one does not wait for them.
void decline(const Communicator& c) {
  auto words = std::make_unique<Words>(Words::Numbers{});
  words->tell(c);
  const std::lock_guard<std::mutex> lock(declined_mutex);
  all_declined().push_back({&c, std::move(words)});
}

struct Met {
  bool declined, same_build, same_idle_team;
};

// Meets all ranks. `idle` is the number of the idle team that this rank has, or 0.
Met meet(Communicator& c, const WaitPolicy& policy, std::uint64_t idle) {
  const Words::Numbers own = {build_hash(), ~build_hash(), idle, ~idle};
  Words words(own);
  words.tell(c);
  words.wait(policy);
  const Words::Numbers& least = words.least;
  return {least[0] == 0 && least[1] == 0, least[0] == own[0] && least[1] == own[1],
          idle != 0 && least[2] == own[2] && least[3] == own[3]};
}

// The same on a board.
Met meet_on_board(Board& board, const WaitPolicy& policy, std::uint64_t idle) {
  std::vector<std::uint64_t> teams(static_cast<std::size_t>(board.ranks()));
  board.all_gather(&idle, teams.data(), sizeof idle, policy);
  const bool same = std::ranges::all_of(teams, [=](std::uint64_t team) { return team == idle; });
  return {false, true, idle != 0 && same};
}

// Returns true for Open MPI 5 started by 'mpirun --with-ft', which tells all ranks: no rank may
// wait for one that has failed, so nothing is agreed on.
bool is_fault_tolerant() {
  static const bool is = [] {
    const char* value = std::getenv("OMPI_MCA_mpi_ft_enable");
    const std::string_view text = value ? value : "";
    return text == "1" || text == "true" || text == "yes" || text == "on";
  }();
  return is;
}

Hello hello_of_process(const Communicator& c) {
  Hello hello = own_hello(c.context, c.hierarchy);
  hello.types = known_types_hash();
  hello.memory_file = own_memory_file();
  hello.segment = own_segment();
  look_for_devices();
  hello.accelerator = device_memory_possible();
  hello.runtimes = static_cast<std::int32_t>(number_of_runtimes());
  hello.messengers = MpiMessages::live();
  hello.progresses_messages = can_progress_messages();
  hello.one_caller = !threads_may_call_mpi();
  if (world_is_up()) mpi.Comm_size(kMpi.comm_world, &hello.world);
  return hello;
}

// Asks the kernel for the processors of this thread once in a millisecond: that takes longer than
// all else of a state.
CpuMask cpus_lately() {
  constexpr std::uint64_t kLately = 1'000'000;
  thread_local CpuMask cpus;
  thread_local std::uint64_t asked_ns = 0;
  const std::uint64_t now = clock_ns();
  if (now - asked_ns >= kLately) {
    cpus = own_cpus();
    asked_ns = now;
  }
  return cpus;
}

// Describes what can change while this process runs, and is told to others when it does.
std::uint64_t state_of_process() {
  look_for_devices();
  std::uint64_t hash = kept_warnings_hash();
  for (const std::uint64_t word : cpus_lately().words) hash = hash_value(word, hash);
  hash = hash_value(std::uint64_t{device_memory_possible()}, hash);
  hash = hash_value(number_of_runtimes(), hash);
  return hash_value(std::uint64_t{can_progress_messages()}, hash);
}

void trace_choices(const Communicator& c) {
  std::string one_group = "one group that shares memory";
  const Measured& measured = c.spec.measured;
  if (measured.distance != Distance::unknown) {
    one_group += std::string(", ") + name_of(measured.distance);
  }
  if (measured.attach != Attach::unknown) {
    one_group += std::string(", attach ") + name_of(measured.attach);
  }
  for (const CollectiveInfo& info : kCollectives) {
    if (!is_of_ranks(info.collective)) continue;
    const LevelsRun* levels = c.levels_for[static_cast<int>(info.collective)];
    trace_choices(c, info.collective, levels ? levels->choices() : c.choices,
                  levels ? "a hierarchy" : one_group.c_str());
  }
}

}  // namespace

bool needs_no_others(Communicator& c) {
  if (is_intercommunicator(c.comm)) {
    hand_down_for_good(c, Reason::intercommunicator);
    return true;
  }
  mpi.Comm_size(c.comm, &c.size);
  mpi.Comm_rank(c.comm, &c.rank);
  if (c.size == 1) {
    c.state = Communicator::State::alone;
  } else if (is_fault_tolerant()) {
    hand_down_for_good(c, Reason::fault_tolerance);
  }
  return c.state != Communicator::State::counting;
}

KnownGroup* known_group_of(Communicator& c) {
  Reason reason;
  if (known_groups().empty()) return nullptr;
  if (c.identity == 0 && !members_may_be_served(c, reason)) return nullptr;
  return known_groups().find(c.identity, c.size);
}

namespace {

// The communicator's agreements go by a board while this lives, if there is one.
class ByBoard {
 public:
  ByBoard(Communicator& c, Board* board, const WaitPolicy& policy) : c_(c) {
    c_.by_mpi.use_board(board, policy);
  }
  ~ByBoard() { c_.by_mpi.use_board(nullptr, {}); }
  ByBoard(const ByBoard&) = delete;
  ByBoard& operator=(const ByBoard&) = delete;

 private:
  Communicator& c_;
};

// Returns true if what this rank has had in its calls repays a set-up, or an idle team. It judges
// by itself: where ranks are asked, each may decline.
bool repays(Communicator& c, bool is_idle) {
  if (c.calls >= options.known_after || (!c.known && !known_group_of(c))) return true;
  return c.own_weight >= (is_idle ? kSeekAfter : options.known_after);
}

WaitPolicy policy_of(Meeting& meeting) {
  WaitPolicy policy = wait_policy_of_process();
  policy.drive = drive;
  policy.late = report_missing;
  policy.context = &meeting;
  return policy;
}

}  // namespace

void set_up(Communicator& c, Others others) {
  Reason reason;
  Board* const board = c.known && may_wait(others) ? &c.known->board : nullptr;
  if (!board && !members_may_be_served(c, reason)) return hand_down_for_good(c, reason);
  if (others == Others::not_heard_of) return decline(c);
  Meeting meeting{c, others != Others::will_come};
  const WaitPolicy policy = policy_of(meeting);
  const ByBoard by_board(c, board, policy);
  const bool enough = has_calls_enough(c, others), agree_only = !board && !enough;
  auto idle = agree_only ? nullptr : idle_teams().find(c, state_of_process());
  if (is_asked(others) && !repays(c, idle != nullptr)) {
    if (idle) idle_teams().put_back(c.context, std::move(idle));
    return decline(c);
  }
  const std::uint64_t number = idle ? idle->number() : 0;
  const Met met = board ? meet_on_board(*board, policy, number) : meet(c, policy, number);
  if (met.declined) {
    // The ranks that did not ask have kept theirs.
    if (idle) idle_teams().put_back(c.context, std::move(idle));
    return;
  }
  if (met.same_idle_team) {
    IdleTeams::take_up(c, std::move(idle));
  } else {
    if (idle) idle_teams().give_up(c.context, std::move(idle));
    if (!met.same_build) return hand_down_for_good(c, Reason::builds_differ);
    if (board && !enough) return;
    if (board) c.known->weight = 0;
    set_up_team(c, hello_of_process(c), agree_only);
    if (c.reports_together) note_agreed_reports();
    if (c.state != Communicator::State::together) return;
    c.state_of_process = state_of_process();
    open_trials(c);
  }
  set_wait_policy_of_process(c.wait_policy);
  c.queue.set_single_caller(!threads_may_call_mpi());
  trace_choices(c);
}

void end_declined(const Communicator* communicator) {
  std::vector<Declined> mine;
  {
    const std::lock_guard<std::mutex> lock(declined_mutex);
    std::vector<Declined>& all = all_declined();
    const auto rest = std::partition(all.begin(), all.end(), [&](const Declined& each) {
      return communicator && each.communicator != communicator;
    });
    std::move(rest, all.end(), std::back_inserter(mine));
    all.erase(rest, all.end());
  }
  WaitPolicy policy = wait_policy_of_process();
  policy.drive = [](void*) { engine().progress(); };
  for (const Declined& each : mine) each.words->wait(policy);
}

}  // namespace sumac

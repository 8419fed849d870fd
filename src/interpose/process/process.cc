// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/process.h"

#include <mutex>

#include "base/launch.h"
#include "base/random.h"
#include "devices/where.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/known_reductions.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"
#include "team/thread_budget.h"

namespace sumac {
namespace {

std::mutex learning;
bool learnt = false;

bool is_between_init_and_finalize() {
  int initialized = 0, finalized = 0;
  mpi.Initialized(&initialized);
  mpi.Finalized(&finalized);
  return initialized && !finalized;
}

}  // namespace

std::atomic<bool> mpi_is_known_to_be_up{false}, device_runtime_is_there{false};
sumac_options options;

sumac_report stats_wanted() {
  sumac_report report{};
  sumac_parse_report(options.stats, &report);
  return report;
}

// The rules are never destroyed, like the arena.
static RuleSet& rules() {
  static RuleSet* the_rules = new RuleSet;
  return *the_rules;
}

const RuleSet& user_rules() { return rules(); }

void read_user_rules() {
  std::string problem;
  if (*options.rules && !read_rules(options.rules, rules(), problem)) {
    log(Level::warn, "warning[rules]: %s; the file is ignored", problem.c_str());
  }
}

// The arena is never destroyed: other threads and late attribute callbacks may still use it while
// the process ends.
Arena& arena() {
  static Arena* the_arena = new Arena;
  return *the_arena;
}

KnownGroups& known_groups() {
  static KnownGroups* the_groups = new KnownGroups;
  return *the_groups;
}

Engine& engine() {
  static Engine* the_engine = new Engine;
  return *the_engine;
}

Helper& helper() {
  static Helper* the_helper = new Helper(engine());
  return *the_helper;
}

std::uint64_t process_word() {
  static const std::uint64_t word = random_word();
  return word;
}

static std::atomic<bool> own_processor{false};
static std::atomic<std::uint32_t> spins{0};
WaitPolicy wait_policy_of_process() {
  WaitPolicy policy;
  policy.own_processor = own_processor.load(std::memory_order_relaxed);
  policy.spins = spins.load(std::memory_order_relaxed);
  return policy;
}
void set_wait_policy_of_process(const WaitPolicy& policy) {
  own_processor.store(policy.own_processor, std::memory_order_relaxed);
  spins.store(policy.spins, std::memory_order_relaxed);
}

// These are the choices of SUMAC_DEVICE.
enum class Devices : std::uint8_t { looked_at, host_only, left_alone };

std::uint64_t number_of_runtimes() { return looks_at_buffers() ? find_runtimes().size() : 0; }

void look_for_devices() {
  const auto wanted = static_cast<Devices>(options.device);
  if (wanted == Devices::host_only) return;
  if (wanted == Devices::looked_at) look_at_buffers(options.late_driver);
  const bool unknown = is_unknown_runtime_loaded();  // which looks
  const bool left_alone = wanted == Devices::left_alone && !find_runtimes().empty();
  if (unknown || left_alone) device_runtime_is_there = true;
}

void note_mpi_up(int log_as) {
  look_for_devices();
  guess_processors();
  const bool world = is_between_init_and_finalize();
  note_world(world);
  int rank = log_as >= 0 ? log_as : sumac_launch_rank();
  if (world && log_as < 0) mpi.Comm_rank(kMpi.comm_world, &rank);
  set_log(static_cast<Level>(options.debug), rank);
  // Each session has a thread level of its own.
  int level = kMpi.thread_multiple;
  set_one_call_at_a_time(world && mpi.Query_thread(&level) == kMpiSuccess &&
                         level < kMpi.thread_multiple);
  const std::lock_guard<std::mutex> lock(learning);
  if (!learnt) learn_predefined_handles();
  learnt = true;
  if (level == kMpi.thread_multiple) self_communicator();
  mpi_is_known_to_be_up.store(true, std::memory_order_release);
}

void note_mpi_down() {
  mpi_is_known_to_be_up.store(false, std::memory_order_release);
  note_world(false);
  forget_known_reductions();
  forget_handles();
}

bool learn_whether_mpi_is_up() {
  // The MPI may have been initialised before Sumac saw a call.
  if (!is_between_init_and_finalize()) return false;
  note_mpi_up();
  return true;
}

}  // namespace sumac

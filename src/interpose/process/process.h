// SPDX-License-Identifier: BSD-3-Clause
// What exists once in a process: options, rules, the engine, whether the MPI is up, and the memory
// that communicators share.
#pragma once

#include <atomic>

#include "config/options.h"
#include "progress/helper.h"
#include "rules/choice_table.h"
#include "rules/rules.h"
#include "strands/waiting.h"
#include "transport/shm/arena.h"

namespace sumac {

extern sumac_options options;
// The parsed value of SUMAC_STATS.
sumac_report stats_wanted();

// The rules of SUMAC_RULES; none where there is no such file or it is refused.
const RuleSet& user_rules();
// Reads them, once; warns of a file that is refused.
void read_user_rules();
Arena& arena();

// What is under way in this process, and which thread advances it when the program does not.
Engine& engine();
Helper& helper();

// Identifies this process among all that ever join a group with it. Never 0.
std::uint64_t process_word();

// True between MPI_Init and MPI_Finalize and, where a program has sessions only, from its first
// collective call on. Learns the predefined handles the first time.
extern std::atomic<bool> mpi_is_known_to_be_up;
bool learn_whether_mpi_is_up();
inline bool mpi_is_up() {
  return mpi_is_known_to_be_up.load(std::memory_order_acquire) || learn_whether_mpi_is_up();
}
// `log_as`: this process's rank for messages, or -1 for its rank in the world, where there is one.
void note_mpi_up(int log_as = -1);
void note_mpi_down();

// True when buffers may be in a GPU's memory: a GPU run-time library was in the process when MPI
// started or a communicator was set up, and SUMAC_DEVICE does not promise otherwise.
extern std::atomic<bool> device_runtime_is_there;
inline bool device_memory_possible() {
  return device_runtime_is_there.load(std::memory_order_relaxed);
}
void look_for_devices();

// How this process waits where a wait belongs to no single communicator: as on the one set up last.
// Without drive() and late().
WaitPolicy wait_policy_of_process();
void set_wait_policy_of_process(const WaitPolicy& policy);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This header has what exists once in a process: options, rules, the engine, the state of the MPI,
// and the memory that communicators share.
#pragma once

#include <atomic>

#include "config/options.h"
#include "progress/engine.h"
#include "rules/choice_table.h"
#include "rules/rules.h"
#include "strands/waiting.h"
#include "team/known_groups.h"
#include "transport/shm/arena.h"

namespace sumac {

extern sumac_options options;
// Returns the parsed value of SUMAC_STATS.
sumac_report stats_wanted();

// Returns the rules of SUMAC_RULES; none if there is no such file or it is refused.
const RuleSet& user_rules();
// Reads the rules, once; warns of a file that is refused.
void read_user_rules();
Arena& arena();
KnownGroups& known_groups();

// The engine has what is under way in this process; the helper is the thread that advances it when
// the program does not.
Engine& engine();
Helper& helper();

// Returns a word, never 0, that identifies this process among all that ever join a group with it.
std::uint64_t process_word();

// Returns true between MPI_Init and MPI_Finalize and, if a program has sessions only, from its
// first collective call on. Learns the predefined handles the first time.
extern std::atomic<bool> mpi_is_known_to_be_up;
bool learn_whether_mpi_is_up();
inline bool mpi_is_up() {
  return mpi_is_known_to_be_up.load(std::memory_order_acquire) || learn_whether_mpi_is_up();
}
// `log_as` is this process's rank for messages, or -1 for its rank in the world, if there is one.
void note_mpi_up(int log_as = -1);
void note_mpi_down();

// True if buffers may be in a GPU's memory and nobody can tell: a GPU run-time library was in the
// process when MPI started or a communicator was set up, whose memory Sumac does not know or, by
// SUMAC_DEVICE=off, must not look at.
extern std::atomic<bool> device_runtime_is_there;
inline bool device_memory_possible() {
  return device_runtime_is_there.load(std::memory_order_relaxed);
}
void look_for_devices();
// Returns how many run-times of GPUs tell which memory is a device's.
std::uint64_t number_of_runtimes();

// Says how this process waits if a wait belongs to no single communicator: as on the one set up
// last. It has no drive() and late().
WaitPolicy wait_policy_of_process();
void set_wait_policy_of_process(const WaitPolicy& policy);

}  // namespace sumac

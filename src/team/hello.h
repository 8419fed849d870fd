// SPDX-License-Identifier: BSD-3-Clause
// When a communicator is set up, each rank tells the ranks of its machine this about itself, and
// rank 0 a part of it (introduction.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "observe/stats.h"
#include "team/context.h"
#include "team/placement.h"
#include "transport/cma.h"
#include "transport/mapped_memory.h"

namespace sumac {

// Rank 0 learns this of each rank, to find out where all are and which machines are crowded. It is
// plain bytes, as is Hello, between ranks of the same build.
struct Brief {
  Place place;
  std::uint64_t machine;  // equal for processes that share processors
  std::uint64_t process;
  CpuMask cpus;
  std::int32_t job_ranks_on_node;
  std::int32_t cpu_quota;
};

// Fields marked "back end" are filled there.
struct Hello : Brief {
  std::uint64_t options;  // hash of the agreed ones, the rules' content, and the hierarchy
  std::uint64_t types;    // back end: hash of this process's table of the MPI's types
  std::uint64_t serial;   // counts the process's hellos
  AttachProbe probe;
  FileIdentity memory_file;     // back end
  std::int64_t segment;         // back end: XPMEM's, by which others see its memory; 0: none
  std::uint64_t pid_namespace;  // 0: not known
  std::uint64_t begin;          // start time of the process; 0: not known
  std::int32_t pid;
  std::int32_t accelerator;          // back end: it cannot tell which memory is a GPU's
  std::int32_t runtimes;             // back end: how many run-times of GPUs tell it
  std::int32_t messengers;           // back end: Messages that this process has made
  std::int32_t progresses_messages;  // back end: also inside other calls of the MPI
  std::int32_t one_caller;           // back end: one thread at a time calls the MPI
  std::int32_t world;                // back end: ranks of MPI_COMM_WORLD; 0: there is none
  std::int32_t gathers;              // SUMAC_STATS=all
  std::int32_t job_rank;             // -1: not known
  std::uint64_t warnings;            // hash of the warnings that it keeps
};

// A process has at most this many Messages: each takes a context of the MPI, and some MPIs have
// 2048.
inline constexpr int kMostMessengers = 256;

// Returns what this process can tell about itself. `hierarchy` is the team's, if an info key sets
// it.
Hello own_hello(const Context& context, const std::string& hierarchy);

// Returns where the ranks of a communicator are. The briefs are those of all of them.
Placement placement_of(const std::vector<Brief>& briefs);

}  // namespace sumac

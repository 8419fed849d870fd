// SPDX-License-Identifier: BSD-3-Clause
// What a rank tells all others of itself when a communicator is set up, and what follows from it
// alone: the same on all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/stats.h"
#include "topology/hierarchy.h"
#include "topology/machine.h"
#include "transport/cma.h"

namespace sumac {

// Plain bytes. Of ranks of the same build.
struct Hello {
  std::uint64_t options;  // hash of the agreed ones, the rules' content, and the hierarchy
  std::uint64_t types;    // hash of what the process knows of the MPI's types
  std::uint64_t process;
  std::uint64_t serial;   // of what the process has agreed on
  std::uint64_t machine;  // equal for processes that share processors
  AttachProbe probe;
  CpuMask cpus;
  Place place;
  std::int32_t pid;
  std::int32_t job_ranks_on_node;
  std::int32_t cpu_quota;
  std::int32_t accelerator;
  std::int32_t messengers;  // communicators this process has made for messages
  std::int32_t progresses_messages;
  std::int32_t fault_tolerant;  // the program wants to hear of ranks that fail, and go on
  std::int32_t world;           // MPI_Init has been called
  std::int32_t gathers;         // SUMAC_STATS=all
  std::int32_t job_rank;        // -1 where it is not known
  std::uint64_t warnings;       // hash of those that it keeps
};

// `hierarchy`: the communicator's, where an info key sets it, else null.
Hello own_hello(const char* hierarchy);

// Whether these ranks can be served together at all; the reason why not.
bool can_agree(const std::vector<Hello>& hellos, Reason& reason);

// More ranks than processors on the machine of this rank, going by affinity, control groups and the
// size of the whole job there. Nodes may be containers of one machine: they share its processors.
bool is_oversubscribed(const std::vector<Hello>& hellos, int rank);

}  // namespace sumac

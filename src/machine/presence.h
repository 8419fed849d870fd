// SPDX-License-Identifier: BSD-3-Clause
// This interface tells which ranks of this process's job run on this node, and which of them Sumac
// serves. A rank without Sumac cannot be asked, so each rank with it leaves a mark (base/mark.h),
// and the launcher tells how many there should be.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mark.h"

namespace sumac {

struct Mark {
  enum class State : std::uint8_t { served, disabled, not_able };

  std::uint64_t job = 0;
  int rank = -1;
  pid_t pid = 0;
  State state = State::served;

  bool served() const { return state == State::served; }
};

// Returns the marks in the text of /proc/net/unix.
std::vector<Mark> parse_marks(std::string_view sockets);

// This process sees so much of its job, as far as the same daemon of the launcher has started it.
// The job's other processes see the same, once all have made their marks.
struct JobOnNode {
  int own = -1;              // this process's rank; -1: nothing is known
  int started = 0;           // ranks that the launcher has started here; 0: not known
  std::vector<int> numbers;  // those ranks, in order; empty: not known
  std::vector<Mark> marks;   // one a rank, in the order of ranks

  const Mark* find(int rank) const;

  // Returns true if all ranks that were started here have a mark, or if their number is not known.
  bool is_complete() const { return marks.size() >= static_cast<std::size_t>(started); }

  // Tells where a rank is that has no mark. `world` is the number of the job's ranks.
  enum class Where : std::uint8_t { here, elsewhere, unknown };
  Where where(int rank, int world) const;
};

// Marks this process as served, and learns which job it belongs to. It must be called before
// MPI_Init goes down to the MPI, hence before any other rank returns from it. `family` is that of
// the process's MPI. Returns false if there can be no mark.
bool mark_as_served(const char* family);

// Returns what is known of this process's job, once the process has been marked. Nothing is known
// if the environment does not name the job, or if the process's own mark is not in the list, which
// the system may hide.
JobOnNode look_at_job();
// Does the same for process `self` by a text of /proc/net/unix.
JobOnNode look_at_job(const sumac_job& job, std::string_view sockets, pid_t self);

// Returns true if a rank of the job has started this process: a process above it has a mark of the
// job that this process's environment names.
bool started_by_rank();
bool started_by_rank(const std::vector<Mark>& marks, std::uint64_t job, const char* proc,
                     pid_t self);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of this process's job run on this node, and which of them Sumac serves. A rank
// without Sumac cannot be asked, so each rank with it leaves a mark (base/mark.h), and the launcher
// tells how many there should be.
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

// The marks in the text of /proc/net/unix.
std::vector<Mark> parse_marks(std::string_view sockets);

// What this process sees of its job, as far as the same daemon of the launcher has started it: the
// same as the job's other processes see, once all have made their marks.
struct JobOnNode {
  int own = -1;              // this process's rank; -1: nothing is known
  int started = 0;           // ranks that the launcher has started here; 0: not known
  std::vector<int> numbers;  // those ranks, in order; empty: not known
  std::vector<Mark> marks;   // one a rank, in the order of ranks

  const Mark* find(int rank) const;

  // Whether all ranks that were started here have a mark. True also where their number is not
  // known.
  bool is_complete() const { return marks.size() >= static_cast<std::size_t>(started); }

  // Where a rank is that has no mark. `world`: the number of the job's ranks.
  enum class Where : std::uint8_t { here, elsewhere, unknown };
  Where where(int rank, int world) const;
};

// Marks this process as served, and learns which job it belongs to; before MPI_Init goes down to
// the MPI, hence before any other rank returns from it. Returns false where there can be no mark.
// `family`: of the process's MPI.
bool mark_as_served(const char* family);

// The job of this process, once it has been marked. Nothing is known where the environment does not
// name the job, or where the process's own mark is not there: the system may hide the list.
JobOnNode look_at_job();
// The same, for process `self` by a text of /proc/net/unix.
JobOnNode look_at_job(const sumac_job& job, std::string_view sockets, pid_t self);

// True when a rank of the job has started this process: one above it has a mark of the job that
// this process's environment names.
bool started_by_rank();
bool started_by_rank(const std::vector<Mark>& marks, std::uint64_t job, const char* proc,
                     pid_t self);

}  // namespace sumac

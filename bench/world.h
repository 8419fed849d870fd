// SPDX-License-Identifier: BSD-3-Clause
// The processes of one run, and how near they are.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "functions.h"
#include "results.h"

namespace sumac::bench {

// The time of a cache line there and back between ranks of a host. It depends on which caches their
// processors share. On virtual machines this changes while a program runs, and with it the time of
// every collective: times are only comparable where a line took as long.
class Line {
 public:
  // Collective over `node`, the ranks of a host. Without shared memory, with one rank or with more
  // ranks than processors nothing is measured.
  Line(MPI_Comm node, const Functions& native);
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Collective over the ranks of the host. Nanoseconds between the host's first rank and that of
  // the others which is farthest from it, on the first rank; 0 on others, and where it is not
  // measured. Takes about 0.1 ms for each other rank.
  double there_and_back();

 private:
  struct Cells;

  int rank_ = 0, ranks_ = 1;
  std::uint64_t next_ = 1;  // number of the next trip; cells begin with zeros
  Cells* cells_ = nullptr;  // a pair for each rank, in memory of all ranks
};

struct World {
  MPI_Comm comm = MPI_COMM_WORLD;    // the calls that are measured
  MPI_Comm control = MPI_COMM_NULL;  // the benchmark's own messages, by the MPI's own functions
  int rank = 0, ranks = 1, hosts = 1;
  Functions called, native;
  std::unique_ptr<Line> line;

  // Collective. MPI must be initialised.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Returns rank 0's value on all ranks.
  template <typename Number>
  Number from_rank_0(Number value) const {
    native.bcast(&value, sizeof value, MPI_BYTE, 0, control);
    return value;
  }
  // Returns the sum over all ranks on all ranks.
  long sum(long value) const;
  // Collective. The longest time of a line on any host, on rank 0.
  double line_ns() const;
};

// The first line of MPI_Get_library_version.
std::string library_version();

// Must be called after the first MPI call.
Surroundings surroundings(const World& world);

}  // namespace sumac::bench

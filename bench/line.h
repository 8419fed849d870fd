// SPDX-License-Identifier: BSD-3-Clause
// The time of a cache line there and back between ranks of a host. It depends on which caches their
// processors share. On virtual machines this changes while a program runs, and with it the time of
// every collective: times are only comparable where a line took as long.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "functions.h"

namespace sumac::bench {

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

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// What to measure or check: one collective with its arguments.
#pragma once

#include <cstddef>
#include <string>

#include "base/collectives.h"
#include "base/types.h"

namespace sumac::bench {

// MPI_Allreduce; MPI_Iallreduce and MPI_Wait; MPI_Start and MPI_Wait after one MPI_Allreduce_init.
enum class Kind { blocking, nonblocking, persistent };

// "allreduce", "iallreduce", "allreduce-persistent"
std::string name_of(Collective collective, Kind kind);

struct Case {
  Collective collective;
  DType type;
  Op op;
  int root;
  bool in_place;
  std::size_t count;
  Kind kind = Kind::blocking;

  std::size_t bytes() const { return count * size_of(type); }
  // Of a collective with a part for each rank `count` is of all parts.
  bool has_parts() const {
    return collective == Collective::reduce_scatter || collective == Collective::allgather;
  }
  bool reduces() const { return info_of(collective).reduces; }
};

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// One collective with its arguments, to be measured or checked.
#pragma once

#include <cstddef>
#include <string>

#include "base/algorithm.h"
#include "base/types.h"

namespace sumac::bench {

// In MPI functions: MPI_Allreduce; MPI_Iallreduce and MPI_Wait; MPI_Start and MPI_Wait after one
// MPI_Allreduce_init.
enum class Kind { blocking, nonblocking, persistent };

// For example "allreduce", "iallreduce", "allreduce-persistent".
inline std::string name_of(Collective collective, Kind kind) {
  const std::string name = name_of(collective);
  if (kind == Kind::nonblocking) return "i" + name;
  return kind == Kind::persistent ? name + "-persistent" : name;
}

struct Case {
  Collective collective;
  DType type;
  Op op;
  int root;
  bool in_place;
  std::size_t count;
  Kind kind = Kind::blocking;
  // By the function with a count for each rank, which are equal: MPI_Allgatherv for allgather.
  bool with_counts = false;

  std::size_t bytes() const { return count * size_of(type); }
  // True for a collective with a part for each rank. `count` is then the sum over all parts.
  bool has_parts() const { return sumac::has_parts(collective); }
  bool reduces() const { return info_of(collective).reduces; }
};

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// What the arguments of a call say of the parts, one a rank, of its vector.
#pragma once

#include <memory>

#include "algorithms/chunks.h"
#include "interpose/backend/call.h"

namespace sumac {

// In elements, as the program gives them.
class Blocks {
 public:
  Blocks(const Call& call, int ranks) : call_(call), ranks_(ranks) {}

  // Whether each rank has a count of its own, else all have receive.count.
  bool listed() const {
    const Function function = call_.kind.function;
    return function == Function::reduce_scatter || function == Function::allgatherv;
  }
  MPI_Count count(int rank) const {
    if (!listed()) return call_.receive.count;
    if (call_.kind.large) return static_cast<const MPI_Count*>(call_.counts)[rank];
    return static_cast<const int*>(call_.counts)[rank];
  }
  // Where the part is in the receive buffer of an all-gather.
  MPI_Aint place(int rank) const {
    if (!listed()) return static_cast<MPI_Aint>(call_.receive.count) * rank;
    if (call_.kind.large) return static_cast<const MPI_Aint*>(call_.displacements)[rank];
    return static_cast<const int*>(call_.displacements)[rank];
  }
  MPI_Aint first_place() const;

  // Of all parts; false where an argument is wrong.
  bool total(MPI_Count& elements) const;

  // The parts one behind the other.
  std::unique_ptr<Part[]> adjoining(std::size_t element) const;
  // The parts where they are, from the first place on.
  std::unique_ptr<Part[]> at_places(std::size_t element) const;
  // One element that is all parts at their places. To be freed.
  MPI_Datatype make_type(MPI_Aint extent) const;

 private:
  const Call& call_;
  int ranks_;
};

// What this rank gives to an all-gather: in place it is where the result will be.
Data own_data(const Call& call, int rank, int ranks);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// These are the parts of a call's vector, one for each rank, as its arguments describe them.
#pragma once

#include <memory>

#include "algorithms/chunks.h"
#include "interpose/mpi/call.h"
#include "layout/layouts.h"

namespace sumac {

// This has the counts and places of the parts, in elements, as the program gives them.
class Blocks {
 public:
  Blocks(const Call& call, int ranks)
      : call_(call), ranks_(ranks), listed_(info_of(call.kind.function).lists) {}

  // Returns true if each rank has a count of its own; otherwise all have receive.count.
  bool listed() const { return listed_; }
  MpiCount count(int rank) const {
    if (!listed()) return call_.receive.count;
    if (call_.kind.large) return static_cast<const MpiCount*>(call_.counts)[rank];
    return static_cast<const int*>(call_.counts)[rank];
  }
  // Returns where the part is in the receive buffer of an all-gather, in elements.
  MpiAint place(int rank) const {
    if (!listed()) return static_cast<MpiAint>(call_.receive.count) * rank;
    if (call_.kind.large) return static_cast<const MpiAint*>(call_.displacements)[rank];
    return static_cast<const int*>(call_.displacements)[rank];
  }
  MpiAint first_place() const;

  // Adds up the elements of all parts. Returns false if an argument is wrong.
  bool total(MpiCount& elements) const;

  // Returns the parts as bytes, one behind the other.
  std::unique_ptr<Part[]> adjoining(std::size_t element) const;
  // Returns the parts as bytes at their places, counted from the first place.
  std::unique_ptr<Part[]> at_places(std::size_t element) const;
  // Returns the places of all parts of an all-gather, one behind the other, in elements of this
  // layout.
  DataLayout layout(const DataLayout& element, MpiAint extent) const;
  // Returns a type whose one element is all parts at their places. The caller frees it.
  MpiDatatype make_type(MpiAint extent) const;

 private:
  const Call& call_;
  int ranks_;
  bool listed_;
};

// Returns this rank's contribution to an all-gather; in place, it lies where the result will be.
Data own_data(const Call& call, int rank, int ranks);

}  // namespace sumac

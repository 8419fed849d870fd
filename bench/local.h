// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local in one process: every operation on every type, Sumac's and the MPI's own against
// memcpy of the same bytes and, where they are few, against a loop that a program could have.
//
// The same buffers are used in all calls, so small vectors are in the cache and those larger than
// it are not. Their values last: however often they are reduced, no call meets others.
#pragma once

#include <optional>
#include <string>

#include "options.h"
#include "turns.h"
#include "world.h"

namespace sumac::bench {

// One operation on one type at one size, and what came of it.
struct Cell {
  Op op;
  DType type;
  std::size_t asked;  // bytes, of which there may be a part too small for an element
  std::size_t count;
  Turns memcpy;
  std::optional<Turns> native, sumac, loop;
  long wrong_native = 0, wrong_sumac = 0;  // elements
  std::string algorithm;

  std::size_t bytes() const { return count * size_of(type); }
  // In what a program gets: from Sumac, or from the MPI without it.
  long wrong() const { return sumac ? wrong_sumac : wrong_native; }
};

// Returns the number of wrong elements, and throws Unavailable when there is nothing to measure.
long run_local(const Options& options, const World& world);

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// What a run finds out, as plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.h"
#include "presence.h"
#include "stats.h"

namespace sumac::bench {

// Where and with what a run takes place.
struct Surroundings {
  std::string mpi;  // the MPI's own description of itself
  std::string family;
  int ranks, hosts;
  Presence sumac;
};

// Of one contender. The start alone is timed in calls of its own: a reading of the clock between
// start and wait would be hidden behind the peers' work and yet be taken off. None of a blocking
// call.
struct Times {
  Samples whole, start;
};

// Microseconds, each the median over the rounds, and the overlapped part in percent.
struct Overlap {
  double pure = 0, compute = 0, overall = 0, percent = 0;
};

struct Overlaps {
  Overlap plain;
  std::optional<Overlap> tests;  // with MPI_Test between the pieces of the computation
};

// What one contender did at one size.
struct Result {
  Times times;
  std::optional<Overlaps> overlap;
  long wrong = 0;
};

// One measured size. `sumac` without it is empty; `blocking` is there in runs of a persistent call.
struct Row {
  Case test;
  Result native;
  std::optional<Result> sumac, blocking;
  std::string algorithm;

  // In what a program gets: from Sumac, or from the MPI without it.
  long wrong() const { return (sumac ? *sumac : native).wrong + (blocking ? blocking->wrong : 0); }
};

// One operation of MPI_Reduce_local on one type at one size, and what came of it.
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

}  // namespace sumac::bench

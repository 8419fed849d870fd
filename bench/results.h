// SPDX-License-Identifier: BSD-3-Clause
// The results of a run, as plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.h"
#include "pack_layout_names.h"
#include "stats.h"

namespace sumac::bench {

// This says whether Sumac is loaded in front of the MPI. Without Sumac, `loaded` is false and the
// strings are empty.
struct Presence {
  bool loaded = false;
  bool active = false;
  const char* version = "";
  const char* description = "";
};
// Must be called after the first MPI call.
Presence presence();
// How the last collective of this thread was served, or "" without Sumac.
const char* last_path();

// Microseconds of the first calls on a communicator, the longest of all ranks.
struct SetUp {
  double first = 0;  // on MPI_COMM_WORLD, the first communicator of all
  double next = 0;   // on another one with the same ranks
};

// The environment of a run.
struct Surroundings {
  std::string mpi;  // from MPI_Get_library_version
  std::string family;
  int ranks, hosts;
  double line_ns;  // see world.h; 0 where it is not measured
  Presence sumac;
  SetUp set_up = {};
};

// The times of one contender. The start is timed in separate calls: reading the clock between start
// and wait would be hidden behind the peers' work, but would be subtracted all the same. A blocking
// call has no start times.
struct Times {
  Samples whole, start;
};

// Microseconds, each the median over the rounds, and the overlapped fraction in percent.
struct Overlap {
  double pure = 0, compute = 0, overall = 0, percent = 0;
};

struct Overlaps {
  Overlap plain;
  std::optional<Overlap> tests;  // with MPI_Test during the computation
};

// The results of one contender at one size.
struct Result {
  Times times;
  std::optional<Overlaps> overlap;
  long wrong = 0;
};

// The results of one size. Without Sumac `sumac` is empty. `blocking` is set in runs of a
// persistent call.
struct Row {
  Case test;
  Result native;
  std::optional<Result> sumac, blocking;
  std::string algorithm;

  // Wrong elements in the calls that a program would make: of Sumac, or of the MPI without it.
  long wrong() const { return (sumac ? *sumac : native).wrong + (blocking ? blocking->wrong : 0); }
};

// The results of a call of one process at one size.
struct Cell {
  std::size_t asked;  // bytes; the last may be too few for an element
  std::size_t bytes;
  Turns memcpy{};
  std::optional<Turns> native{}, sumac{}, loop{};
  long wrong_native = 0, wrong_sumac = 0;  // numbers of elements
  std::string algorithm{};

  // Wrong elements in the calls that a program would make: of Sumac, or of the MPI without it.
  long wrong() const { return sumac ? wrong_sumac : wrong_native; }
};

// MPI_Reduce_local by one operation on one type.
struct ReduceCell : Cell {
  Op op;
  DType type;
  std::size_t count;
};

enum class Packing { pack, unpack };

// MPI_Pack or MPI_Unpack of one datatype. Wrong are bytes.
struct PackCell : Cell {
  Packing call;
  Layout layout;
};

}  // namespace sumac::bench

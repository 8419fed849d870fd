// SPDX-License-Identifier: BSD-3-Clause
// The options of one run of the benchmark.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/types.h"
#include "case.h"
#include "compute.h"
#include "pack_layout_names.h"

namespace sumac::bench {

struct Options {
  bool pack = false;  // MPI_Pack and MPI_Unpack are measured, and no collective
  Collective collective = Collective::allreduce;
  Kind kind = Kind::blocking;
  std::size_t min_bytes = 4;
  std::size_t max_bytes = std::size_t{4} << 20;
  int factor = 2;
  std::vector<std::size_t> sizes;  // in bytes; if any, they replace the three above
  DType type = DType::f32;
  Op op = Op::sum;
  std::vector<DType> types;  // for reduce_local, each with all of `ops`
  std::vector<Op> ops;
  std::vector<Layout> layouts;  // for pack
  int root = 0;
  bool in_place = false;
  bool with_counts = false;
  int warmup = 20;
  int rounds = 10;
  int iterations = 0;    // calls of each contender in a round; 0: as `seconds` allows
  double seconds = 0.5;  // time for one size, without warm-up and checks
  int cold = 0;          // only the first so many calls of each size are timed; 0: warm calls
  bool overlap = false;
  int tests = 10;  // MPI_Test calls during the computation; 0: not measured
  Compute compute = Compute::busy;
  std::string json_file;

  // In one process, without communication.
  bool is_local() const { return pack || !is_of_ranks(collective); }
  std::string what() const { return pack ? "pack" : name_of(collective, kind); }
  Case test(std::size_t count) const {
    return {collective, type, op, root, in_place, count, kind, with_counts};
  }
};

// Reads the command line. Returns -1 when the run can go on. Else returns the exit status, and sets
// `message` to the help text (status 0) or to an error message (status 2).
int parse(int argc, char** argv, Options& options, std::string& message);

// The sizes to measure, in bytes.
std::vector<std::size_t> sizes_in_bytes(const Options& options);

// The element counts to measure, ascending; {0} for a barrier.
std::vector<std::size_t> counts(const Options& options, int ranks);

}  // namespace sumac::bench

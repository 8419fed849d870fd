// SPDX-License-Identifier: BSD-3-Clause
// What one run of the benchmark is asked to do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/types.h"
#include "case.h"
#include "compute.h"

namespace sumac::bench {

struct Options {
  Collective collective = Collective::allreduce;
  Kind kind = Kind::blocking;
  std::size_t min_bytes = 4;
  std::size_t max_bytes = std::size_t{4} << 20;
  int factor = 2;
  std::vector<std::size_t> sizes;  // in bytes; where there are any, instead of the three above
  DType type = DType::f32;
  Op op = Op::sum;
  std::vector<DType> types;  // for reduce_local, with all of `ops`
  std::vector<Op> ops;
  int root = 0;
  bool in_place = false;
  int warmup = 20;
  int rounds = 10;
  int iterations = 0;    // calls of each contender in a round; 0 chooses by `seconds`
  double seconds = 0.5;  // time one size may take, warm-up and checks not counted
  bool overlap = false;
  int tests = 10;  // MPI_Test calls in the computation; 0 leaves that measurement out
  Compute compute = Compute::busy;
  std::string json_file;

  Case test(std::size_t count) const { return {collective, type, op, root, in_place, count, kind}; }
};

// Reads the command line. Returns -1 when the run should go on, else the exit status, with
// `message` holding the help text (status 0) or the complaint (status 2).
int parse(int argc, char** argv, Options& options, std::string& message);

// The sizes to measure, as they were asked for.
std::vector<std::size_t> sizes_in_bytes(const Options& options);

// The numbers of elements to measure, ascending; {0} for a barrier.
std::vector<std::size_t> counts(const Options& options, int ranks);

}  // namespace sumac::bench

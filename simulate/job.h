// SPDX-License-Identifier: BSD-3-Clause
// What is to be simulated: a JSON file that `sumac simulate` writes.
//   places     for each rank [node, package, host of a slow rank or -1]: nodes and packages are
//              numbers, packages within their node or -1
//   variables  "SUMAC_NAME=value", the options
//   mpi        the family whose rules hold: any, openmpi, mpich
//   overhead   seconds that a message takes of its receiver's processor
//   cases      what sumac-simulated calls, see Case; none for programs
#pragma once

#include <string>
#include <vector>

#include "base/algorithm.h"
#include "simulate/process.h"

namespace sumac::simulated {

// One call of all ranks, of doubles that are added.
struct Case {
  Collective collective = Collective::allreduce;
  std::size_t bytes = 0;
  int root = 0;
  bool native = false;       // by SMPI, else by Sumac
  bool nonblocking = false;  // begun, then `compute` seconds are computed, then waited for:
  double compute = 0;
  int tests = 0;  // so many times the rank looks in between
};

struct Job {
  Settings settings;
  std::vector<Case> cases;
};

// Throws std::exception with what is wrong.
Job read_job(const std::string& path);

}  // namespace sumac::simulated

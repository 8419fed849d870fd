// SPDX-License-Identifier: BSD-3-Clause
// What a replay tells, in JSON Lines on standard output: {"kind":"header"}, {"kind":"progress"}
// after each pass, {"kind":"class"} for calls of one function, form, number of ranks and bytes,
// then
// {"kind":"summary"}. Times are in microseconds.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "player.h"

namespace sumac::replay {

// What one rank knows of a class; of all passes the medians.
struct Row {
  std::string name;  // "allreduce blocking"
  std::int64_t ranks = 0, bytes = 0;
  double calls = 0, mpi_us = 0, sumac_us = 0, wrong = 0;
};

// Adds up the rows of all ranks, on rank 0: the sums of calls and of what is wrong, the means of
// times over all ranks.
// `comm`: all ranks.
std::vector<Row> gather(const std::vector<Row>& own, MPI_Comm comm);

struct Totals {
  double mpi_us = 0, sumac_us = 0;  // of a pass, of the rank that took longest
  long wrong = 0;
  int rounds = 0;
  bool has_mpi = false, has_sumac = false;
};

struct Counts {
  long calls = 0, left_out = 0, cut = 0;  // of all ranks
};

void print_header(const char* family, int ranks, const Counts& counts, int passes);
void print_progress(const char* what);
void print_rows(std::vector<Row> rows, const Totals& totals);

}  // namespace sumac::replay

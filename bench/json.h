// SPDX-License-Identifier: BSD-3-Clause
// The output of the benchmark in JSON Lines. First {"kind":"header"}; then {"kind":"size"} as soon
// as a size (of reduce_local: one operation on one type at one size; of pack: one call on one
// layout at one size) has been measured; then {"kind":"summary"}. Times are in microseconds.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "options.h"
#include "results.h"

namespace sumac::bench {

class Report {
 public:
  // Writes to standard output and, unless its name is empty, to a file. Throws when writing fails.
  explicit Report(const std::string& file);
  // `native_kind` is the kind of call that stands for the MPI's. `sumac_lacks` is why active Sumac
  // has no such call, or "".
  void header(const Options& options, const Surroundings& here, Kind native_kind,
              const std::string& sumac_lacks, std::size_t sizes);
  void row(const Row& row);
  // `lacking` has those of the options' types that this MPI lacks.
  void local_header(const Options& options, const Surroundings& here,
                    const std::vector<DType>& lacking, std::size_t cells);
  void cell(const ReduceCell& cell);
  // `left_out` has the cells that are not measured, since they take too much memory.
  void pack_header(const Options& options, const Surroundings& here,
                   const std::vector<PackCell>& left_out, std::size_t cells);
  void cell(const PackCell& cell);
  void summary();

 private:
  void count(const Cell& cell, double speedup);
  void line(const std::string& text);
  std::ofstream file_;
  std::vector<double> speedups_;
  std::vector<std::size_t> bytes_;
  long wrong_ = 0, wrong_native_ = 0;
  double line_ns_ = 0;  // at the beginning
};

// The findings of sumac-check, and their output.

// One collective at one size.
struct Attempt {
  Case test;
  std::string algorithm;
  long wrong;  // elements
};

struct Checked {
  Surroundings here;
  std::vector<std::string> hosts;  // one for each rank
  long active_ranks;
  std::vector<Attempt> attempts;
  double shared_memory_free;  // bytes; -1: unknown
  std::string cross_memory_attach;
};

// Returns one JSON object.
std::string to_json(const Checked& checked);

}  // namespace sumac::bench

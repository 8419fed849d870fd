// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark prints: JSON Lines. First {"kind":"header"}, then {"kind":"size"} as soon as a
// size (of reduce_local: one operation on one type at one size) is measured, then
// {"kind":"summary"}. Times are microseconds.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "contenders.h"
#include "local.h"
#include "options.h"
#include "size.h"
#include "world.h"

namespace sumac::bench {

class Report {
 public:
  // Writes to standard output and, unless its name is empty, to a file. Throws when that fails.
  explicit Report(const std::string& file);
  void header(const Options& options, const World& world, const Presence& sumac,
              const Contenders& contenders, std::size_t sizes);
  void row(const Row& row);
  void local_header(const Options& options, const World& world, const Presence& sumac,
                    std::size_t cells);
  void cell(const Cell& cell);
  void summary();

 private:
  void line(const std::string& text);
  std::ofstream file_;
  std::vector<double> speedups_;
  std::vector<std::size_t> bytes_;
  long wrong_ = 0, wrong_native_ = 0;
};

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// The findings of sumac-check, and their output.
#pragma once

#include <string>
#include <vector>

#include "results.h"

namespace sumac::bench {

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

// SPDX-License-Identifier: BSD-3-Clause
// Several strands of one rank, run at the same time by one thread: the levels of a hierarchy.
#pragma once

#include <memory>
#include <vector>

#include "strands/strand.h"

namespace sumac {

// An object whose counters grow only when it is polled, such as messages under way.
class Pollable {
 public:
  virtual ~Pollable() = default;
  // Returns true when something was completed.
  virtual bool poll() = 0;
  // True while anything is under way.
  virtual bool busy() const = 0;
};

using Strands = std::vector<std::unique_ptr<Strand>>;

// Runs all strands to their ends. `outside` may be null.
void run_together(const Strands& strands, Pollable* outside, const WaitPolicy& policy);

}  // namespace sumac

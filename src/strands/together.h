// SPDX-License-Identifier: BSD-3-Clause
// One thread runs several strands of one rank at the same time: the levels of a hierarchy.
#pragma once

#include <memory>
#include <vector>

#include "strands/strand.h"

namespace sumac {

// The counters of this object grow only when it is polled, such as those of messages under way.
class Pollable {
 public:
  virtual ~Pollable() = default;
  // Returns true if something was completed.
  virtual bool poll() = 0;
  // Returns true while anything is under way.
  virtual bool busy() const = 0;
};

using Strands = std::vector<std::unique_ptr<Strand>>;

// Runs all strands to their ends. `outside` may be null.
void run_together(const Strands& strands, Pollable* outside, const WaitPolicy& policy);

}  // namespace sumac

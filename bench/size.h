// SPDX-License-Identifier: BSD-3-Clause
// What is found out about one message size.
#pragma once

#include <optional>
#include <string>

#include "contenders.h"
#include "measure.h"
#include "options.h"
#include "overlap.h"
#include "world.h"

namespace sumac::bench {

// What one contender did at one size.
struct Result {
  Times times;
  std::optional<Overlaps> overlap;
  long wrong = 0;
};

// One measured size. `sumac` without it is empty; `blocking` is there in runs of a persistent call.
struct Row {
  Case test;
  Result native;
  std::optional<Result> sumac, blocking;
  std::string algorithm;

  // In what a program gets: from Sumac, or from the MPI without it.
  long wrong() const { return (sumac ? *sumac : native).wrong + (blocking ? blocking->wrong : 0); }
};

// Collective. Checks and times one size. The samples are there on rank 0 only.
Row run_size(const Options& options, const World& world, const Buffers& buffers, std::size_t count,
             const Contenders& contenders);

}  // namespace sumac::bench

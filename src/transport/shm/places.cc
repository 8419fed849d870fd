// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/places.h"

#include <algorithm>

namespace sumac {

// The lines of a message lie side by side, so those left at the end of the ring are passed over.
void Places::begin_run(std::uint64_t first, const Use& use, std::uint32_t step) {
  Run run;
  run.first = first;
  run.lines = static_cast<std::uint32_t>(use.lines);
  run.step = step;
  run.results = use.results;
  if (step > 0) next_from_ = round_up(next_from_, step);
  run.from = next_from_;
  if (use.lines > 1) {
    if (line_place_ + run.lines > further_lines_) {
      next_line_from_ += further_lines_ - line_place_;
      line_place_ = 0;
    }
    run.line_place = line_place_;
    run.line_from = next_line_from_;
    line_place_ += run.lines;
    next_line_from_ += run.lines;
  } else {
    run.line_from = next_line_from_;
  }
  last_ = runs_[++newest_ % kRuns] = run;
}

const Places::Run& Places::earlier_run(std::uint64_t position) const {
  std::uint64_t number = newest_;
  while (number > 1 && newest_ - number + 2 < kRuns && runs_[number % kRuns].first > position) {
    --number;
  }
  return runs_[number % kRuns];
}

std::uint64_t Places::first_line_from(std::uint64_t line_from, std::uint64_t position) const {
  std::uint64_t found = position;
  for (std::uint64_t number = newest_; number > 0 && newest_ - number + 1 < kRuns; --number) {
    const Run& run = runs_[number % kRuns];
    if (run.first > position) continue;
    // The positions of a run of several take no further lines.
    if (run.line_from < line_from) break;
    found = run.first;
  }
  return found;
}

std::uint64_t Places::first_payload_from(std::uint64_t from, std::uint64_t position) const {
  std::uint64_t found = position, end = position;
  for (std::uint64_t number = newest_; number > 0 && newest_ - number + 1 < kRuns; --number) {
    const Run& run = runs_[number % kRuns];
    if (run.first > position) continue;
    if (run.from >= from) {
      found = end = run.first;
      continue;
    }
    if (run.step > 0) found = std::min(end, run.first + div_up(from - run.from, run.step));
    break;
  }
  return found;
}

std::uint64_t Places::needed_for(std::uint64_t position) const {
  const Run& run = run_of(position);
  const auto behind = [&](std::uint64_t depth) {
    return position + 1 > depth ? position + 1 - depth : 0;
  };
  std::uint64_t needed = behind(run.results ? kResultPlaces : kPositions);
  if (run.lines > 1) {
    const std::uint64_t end = run.line_from + run.lines;
    if (end > further_lines_) {
      needed = std::max(needed, first_line_from(end - further_lines_, position));
    }
  }
  if (run.step > 0) {
    const std::uint64_t end = from_of(run, position) + run.step;
    if (end > payload_bytes_) {
      needed = std::max(needed, first_payload_from(end - payload_bytes_, position));
    }
  }
  return needed;
}

}  // namespace sumac

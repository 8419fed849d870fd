// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/cost.h"

namespace sumac {
namespace {

// Single copy has two steps, and one in place another for the edges of pages.
constexpr std::uint64_t kAttachSteps = 2, kInPlaceSteps = 3;

SharedWork moved(int ranks, std::uint64_t steps, std::uint64_t bytes, int awaited) {
  SharedWork work;
  work.slot_steps = steps;
  work.awaited = steps * static_cast<std::uint64_t>(awaited);
  work.copied = bytes;
  work.shared = bytes * static_cast<std::uint64_t>(ranks);
  return work;
}

}  // namespace

Traffic through_lines(std::uint64_t steps, std::uint64_t bytes, int awaited,
                      const LinesMoved& lines) {
  SharedWork work;
  work.line_steps = steps;
  work.awaited = static_cast<std::uint64_t>(awaited);
  work.lines_written = static_cast<std::uint64_t>(lines.written);
  work.lines_read = static_cast<std::uint64_t>(lines.read);
  return traffic_in_memory(steps, bytes, work);
}

Traffic through_slots(int ranks, std::uint64_t steps, std::uint64_t bytes, int awaited) {
  return traffic_in_memory(steps, bytes, moved(ranks, steps, bytes, awaited));
}

Traffic in_place(int ranks, std::uint64_t bytes, int awaited) {
  return through_slots(ranks, kInPlaceSteps, bytes, awaited);
}

Traffic by_attach(int ranks, std::uint64_t bytes, int awaited, const Reached& reached) {
  SharedWork work = moved(ranks, kAttachSteps, bytes, awaited);
  work.attached = static_cast<std::uint64_t>(reached.processes);
  work.contended = bytes * static_cast<std::uint64_t>(reached.readers);
  return traffic_in_memory(kAttachSteps, bytes, work);
}

}  // namespace sumac

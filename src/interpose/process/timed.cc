// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/timed.h"

#include "interpose/process/entry.h"
#include "observe/log.h"

namespace sumac {
namespace {

bool timed = false;

}  // namespace

bool calls_are_timed() { return timed; }

void time_calls() {
  timed = true;
  start_timing();
}

void TimedCall::end(std::uint64_t now) const {
  const int path = thread_state().last_path;
  if (path >= kNumPaths) return;  // an exception has ended the call before
  const bool first = add_time(collective_, path, now - begin_);
  if (!first || log_rank() != 0) return;
  log(Level::trace, "first call: %s: %s", name_of(collective_), name_of_path(path));
}

}  // namespace sumac

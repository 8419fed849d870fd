// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/process/timed.h"

#include <cstring>

#include "interpose/process/entry.h"
#include "observe/log.h"

namespace sumac {
namespace {

bool timed = false;

// Returns the number of a path, from the name that the call has left for sumac_last_path(). Equal
// texts are the same pointer.
int number_of(Collective collective, const char* path) {
  if (path == kLocal) return kLocalPath;
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (info.name == path && info.collective == collective) return static_cast<int>(algorithm);
  }
  for (int r = 0; r < kNumReasons; ++r) {
    if (text_of(static_cast<Reason>(r)) == path) return kFirstReasonPath + r;
  }
  return kLocalPath;
}

}  // namespace

bool calls_are_timed() { return timed; }

void time_calls() {
  timed = true;
  start_timing();
}

void TimedCall::end(std::uint64_t now) const {
  const char* path = thread_state().last_path;
  const bool first = add_time(collective_, number_of(collective_, path), now - begin_);
  if (first && log_rank() == 0) log(Level::trace, "first call: %s: %s", name_of(collective_), path);
}

}  // namespace sumac

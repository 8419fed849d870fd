// SPDX-License-Identifier: BSD-3-Clause
// Calls have a clock around them if SUMAC_STATS or SUMAC_DEBUG=trace asks for it: the stub is then
// given Timed<...>::call instead of the function itself, so that otherwise calls pay nothing.
#pragma once

#include "base/types.h"
#include "observe/stats.h"

namespace sumac {

// Returns true if calls are to be timed. This is decided before anything is redirected.
bool calls_are_timed();
void time_calls();

// This is one call of this thread. Its time is added to the path that the call has taken by its
// end; for a nonblocking call that is the start.
class TimedCall {
 public:
  explicit TimedCall(Collective collective) : collective_(collective), begin_(ticks()) {}
  ~TimedCall() { end(ticks()); }
  TimedCall(const TimedCall&) = delete;
  TimedCall& operator=(const TimedCall&) = delete;

 private:
  void end(std::uint64_t now) const;

  const Collective collective_;
  const std::uint64_t begin_;
};

template <Collective collective, auto function>
struct Timed;

template <Collective collective, class... Arguments, int (*function)(Arguments...)>
struct Timed<collective, function> {
  static int call(Arguments... arguments) {
    const TimedCall timed(collective);
    return function(arguments...);
  }
};

// Returns the function that the stub is to call.
template <Collective collective, auto function>
void* entry_of() {
  return calls_are_timed() ? reinterpret_cast<void*>(&Timed<collective, function>::call)
                           : reinterpret_cast<void*>(function);
}

}  // namespace sumac

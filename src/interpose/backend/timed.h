// SPDX-License-Identifier: BSD-3-Clause
// Calls with a clock, where SUMAC_STATS or SUMAC_DEBUG=trace asks for it: the stub is then told
// Timed<...>::call instead of the function itself, so that other calls pay nothing.
#pragma once

#include "base/types.h"
#include "observe/times.h"

namespace sumac {

// Whether calls are to be timed. Settled before anything is redirected.
bool calls_are_timed();
void time_calls();

// One call of this thread: its time is that of the path it has gone by then. Of a nonblocking call
// it is the start's.
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

// What the stub is to call.
template <Collective collective, auto function>
void* entry_of() {
  return calls_are_timed() ? reinterpret_cast<void*>(&Timed<collective, function>::call)
                           : reinterpret_cast<void*>(function);
}

}  // namespace sumac

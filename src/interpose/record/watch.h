// SPDX-License-Identifier: BSD-3-Clause
// Those who are told of the collective calls that the program makes, whoever serves them. With
// nobody to tell, the stub is given the functions themselves, so that calls pay nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "interpose/calls/call.h"
#include "interpose/requests/completion.h"

namespace sumac {

// Nanoseconds of clock_ns(): when the program made the call, and when it returned.
struct CallTimes {
  std::uint64_t begin = 0, end = 0;
};

using RequestNumber = std::uint64_t;  // of a nonblocking or persistent operation in this process

// Each is called at the end of a call that succeeded, outside of any lock, in the thread that made
// the call. Calls that the MPI, or a callback that it calls, makes within another are not told.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  virtual void blocking(const Call& call, CallTimes times) = 0;
  // A nonblocking operation has been started, or a persistent one initialised.
  virtual void deferred(const Call& call, RequestNumber request, CallTimes times) = 0;
  virtual void restarted(const std::vector<RequestNumber>& requests, CallTimes times) = 0;
  // The program has been told that these have ended, by a call that waited or tested.
  virtual void completed(const std::vector<RequestNumber>& requests, CallTimes times) = 0;
  virtual void freed(RequestNumber request) = 0;
};

// To be called before the stub is given functions. A watcher stays for good.
void watch_calls(CallWatcher& watcher);
bool calls_are_watched();

// Makes the call by `serve`, and tells.
int serve_watched(const Call& call, int (*serve)(const Call&));

// The same of requests: calls that tell, and make these.
RequestCalls watched_request_calls(const RequestCalls& calls);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Which requests a call of the program's has ended, and how: the one place that wraps the calls
// about requests for those who want to know. A listener holds requests, the MPI's own, and is told
// of the calls that are about one of them. Without listeners nothing is wrapped.
#pragma once

#include <cstdint>
#include <vector>

#include "interpose/mpi/handle_types.h"
#include "interpose/requests/completion.h"

namespace sumac {

// A request of which the program has been told that it has ended.
struct RequestEnd {
  int index = 0;                           // in the array of the call
  MpiRequest request = kMpi.request_null;  // before the call
  StatusPointer status;
  bool success = false;
};

// A call that waited, tested or asked for a status, after it was made.
struct RequestEvent {
  std::vector<MpiRequest> asked;  // as they were before it
  std::vector<RequestEnd> ends;
  bool lasting = false;  // MPI_Request_get_status: the ended ones are still there
  // When the program made the call, and when it returns; 0 where nobody takes the time.
  std::uint64_t begin_ns = 0, end_ns = 0;
};

class RequestListener {
 public:
  // True where it wants to know of starts, and when calls begin and end.
  virtual bool takes_time() const { return false; }
  // Before any call about requests.
  virtual void look() {}
  virtual bool holds_any(int count, RequestPointer requests) = 0;
  // Told only of calls about a request that some listener holds.
  virtual void told(const RequestEvent& event) = 0;
  // Persistent requests, not all of them held, have been started.
  virtual void started(int /*count*/, RequestPointer /*requests*/, std::uint64_t /*begin_ns*/,
                       std::uint64_t /*end_ns*/) {}
  // The program frees the request. Returns true where the listener does that, once it has ended.
  virtual bool takes_freed(MpiRequest request) = 0;

 protected:
  ~RequestListener() = default;
};

// To be called before the stub is given functions. A listener stays for good.
void listen(RequestListener& listener);

// Where there are listeners, puts functions that make these calls and tell in their place.
void observe_requests(MpiFunctions& calls);

}  // namespace sumac

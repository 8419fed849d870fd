// SPDX-License-Identifier: BSD-3-Clause
// This header tells which requests a call of the program's has ended, and how. It is the one place
// that wraps the calls about requests for those who want to know. A listener holds requests, the
// MPI's own, and is told of the calls that are about one of them. Without listeners nothing is
// wrapped.
#pragma once

#include <cstdint>
#include <vector>

#include "interpose/mpi/handle_types.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// The calls about requests have layers: the innermost serves Sumac's requests and the MPI's, before
// it stand layers that tell or do more, and the program calls the outermost.
// Sets the innermost layer.
void serve_requests(MpiFunctions& calls);

// Gives the stub the functions of `in_front`.
void redirect_requests(const sumac_stub& stub);

// The program has been told that this request has ended.
struct RequestEnd {
  int index = 0;                           // index in the array of the call
  MpiRequest request = kMpi.request_null;  // the handle before the call
  StatusPointer status;
  bool success = false;
};

// This is a call that waited, tested or asked for a status, after it was made.
struct RequestEvent {
  std::vector<MpiRequest> asked;  // the requests as they were before the call
  std::vector<RequestEnd> ends;
  bool lasting = false;  // MPI_Request_get_status: the ended requests are still there
  // The program made the call at begin_ns, and it returns at end_ns; both are 0 if nobody takes the
  // time.
  std::uint64_t begin_ns = 0, end_ns = 0;
};

class RequestListener {
 public:
  // Returns true if the listener wants to know of starts, and when calls begin and end.
  virtual bool takes_time() const { return false; }
  // This is called before any call about requests.
  virtual void look() {}
  virtual bool holds_any(int count, RequestPointer requests) = 0;
  // The listener is told only of calls about a request that some listener holds.
  virtual void told(const RequestEvent& event) = 0;
  // The program has started persistent requests, of which only some may be held.
  virtual void started(int /*count*/, RequestPointer /*requests*/, std::uint64_t /*begin_ns*/,
                       std::uint64_t /*end_ns*/) {}
  // The program frees the request. Returns true if the listener frees it instead, once it has
  // ended.
  virtual bool takes_freed(MpiRequest request) = 0;

 protected:
  ~RequestListener() = default;
};

// Must be called before the stub is given functions. A listener stays for good.
void listen(RequestListener& listener);

// If there are listeners, puts functions in the place of these calls that make them and tell.
void observe_requests(MpiFunctions& calls);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Packed messages, results in a GPU's memory and the profile wait for the ends of requests that are
// the MPI's own. A holder is what each of them keeps for one request.
//
// The MPI may give the handle of a request that has ended to another thread before the call that
// ended it returns. So holders are looked up before a call is made, and never after it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// A call of the program's began and returned at these times (base/cpu.h).
struct CallTime {
  std::uint64_t begin_ns, end_ns;
};

// MPI lets one thread at a time ask about a request, but any number look at it: these functions are
// called by one thread at a time.
class RequestHolder {
 public:
  virtual ~RequestHolder() = default;
  // The program is about to start the persistent request.
  virtual void starts() {}
  // The program has started it. The start before may not have ended for all that the program was
  // told: then `active` is true.
  virtual void started(const CallTime& /*time*/, std::uint64_t /*share_ns*/, bool /*active*/) {}
  // This is the request's share of the time of a call about it.
  virtual void took(std::uint64_t /*ns*/) {}
  // The request has ended, and the MPI will be asked about it again (MPI_Request_get_status).
  virtual void seen(StatusPointer /*status*/) {}
  // The program will be told that the request has ended, by a call that returns at end_ns. The
  // holder is destroyed unless the request is persistent.
  virtual void ended(StatusPointer status, bool success, std::uint64_t end_ns) = 0;
  // The program frees the request. Returns true if the MPI must not free it before its end.
  virtual bool freed(bool /*active*/) { return false; }
  // The MPI ends, or has given the handle to another request, and nobody was told that this one,
  // which is active, has ended.
  virtual void left() {}
};

struct HeldRequest;

// These must be called before the program has the request, which is a new one.
void hold(MpiRequest request, std::unique_ptr<RequestHolder> holder, bool persistent);
// If the operation has ended already, its request may be one that the MPI gives to all such calls:
// then the holder is told at once, and not kept.
void hold_unless_ended(MpiRequest request, std::unique_ptr<RequestHolder> holder);
// Adds a holder to a request that this thread holds already.
void hold_too(MpiRequest request, std::unique_ptr<RequestHolder> holder);
// Returns how often this thread has called hold().
std::uint64_t holds_of_thread();
// Destroys the holders of a request that the program never gets.
void forget_held(MpiRequest request);

// Returns true while any request is held, also one that the program has freed.
bool any_held();

// A call says that this request of its array has ended.
struct RequestEnd {
  std::ptrdiff_t index;
  StatusPointer status;
  bool success;
};

// A call asks about these requests. It must be made before the MPI's call.
class AskedRequests {
 public:
  // `looks` says that the requests stay: MPI_Request_get_status and its kin.
  AskedRequests(int count, RequestPointer requests, bool looks);
  // Returns true if any of them is held.
  bool any() const { return !held_.empty(); }
  // Must be called after the MPI's call: tells the holders.
  void tell(const std::vector<RequestEnd>& ends, const CallTime& time);

 private:
  void tell_end(HeldRequest& held, const RequestEnd& end, std::uint64_t end_ns) const;

  const bool looks_;
  std::vector<std::shared_ptr<HeldRequest>> held_;  // null where a request is not held
};

// These are told of calls that start persistent requests.
void tell_starts(int count, RequestPointer requests);
void tell_started(int count, RequestPointer requests, const CallTime& time);

// The program frees the request. Returns true if the MPI's call must not be made, because the
// request is freed here once it has ended.
bool take_freed(MpiRequest request);
// Looks which of these have ended.
void look_at_freed();
// Must be called at finalisation: waits for them.
void wait_for_freed();
// Must be called at finalisation: forgets all requests, and tells their holders.
void leave_held();

}  // namespace sumac

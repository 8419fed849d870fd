// SPDX-License-Identifier: BSD-3-Clause
// Sumac's nonblocking and persistent collectives are behind requests of the MPI's.
//
// A nonblocking one has a generalized request; a persistent one has the request of a persistent
// receive of no bytes from this process itself. So a request works in every call, in every language
// and in arrays with the MPI's own. The MPI learns late that one has ended: MPI_Wait and the like
// look up a request of Sumac's and end it themselves, and the generalized request, which the MPI
// still takes for one under way, serves the next call. Only if requests are asked about in a way
// that only the MPI can answer (MPI_Waitany, MPI_Testsome) is the MPI shown how things stand.
#pragma once

#include "interpose/calls/call_data.h"
#include "interpose/calls/check.h"
#include "interpose/calls/decide.h"
#include "interpose/calls/device_data.h"
#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_types.h"
#include "interpose/requests/events.h"

namespace sumac {

// Returns the server of all requests here.
RequestServer& collective_server();
// Gives the stub the functions of `in_front` for the calls about requests.
void redirect_requests(const sumac_stub& stub);

// Behind persistent collectives, the MPI has requests of these: persistent receives of no bytes
// from this process itself, on communicators of their own. So MPI_Startall, arrays of requests, and
// the active and inactive states work as always. This is a receive that only deliver_carrier()
// completes, identified by tag and communicator.
struct Carrier {
  MpiComm comm = kMpi.comm_null;
  int tag = 0;
};

// Makes an inactive request. Returns false if the MPI cannot make one.
bool make_carrier(MpiRequest& request, Carrier& carrier);
// Must be called when the request has been freed.
void return_carrier(const Carrier& carrier);

// Completes a receive that has been started.
void deliver_carrier(const Carrier& carrier);

// Must be called at finalisation, before end_self_communicator().
void end_carriers();

struct CollectiveRequest : Work {
  enum class Phase : std::uint8_t {
    idle,   // persistent: inactive. Nonblocking: the program does not have it
    begun,  // the program has not been told of an end, even if `ended`
    shown,  // the MPI knows of the end, and will tell
  };

  Communicator* communicator = nullptr;
  ChosenCall described;
  // This is the direct algorithm that may be tried, or native; the flag says if this operation
  // tries.
  Algorithm may_go_direct = Algorithm::native;
  bool tries_direct = false;
  CallData data;
  std::unique_ptr<DeviceData> device;  // buffers in a GPU's memory, or null if there is none
  HostBuffers host_buffers;            // persistent: they must stay in host memory
  std::unique_ptr<ResultCheck> check;  // check of the result, or null
  bool delivered = false;              // the data are where the program wants them
  OwnRanks* own_ranks = nullptr;       // ranks of a persistent operation, unless local

  MpiRequest handle = kMpi.request_null;
  bool persistent = false;
  bool carried = false;  // persistent: the MPI has been told of this start
  Carrier carrier;       // carrier of a persistent operation

  // MPI allows only one of the threads that know a request to ask about it at a time.
  Phase phase = Phase::idle;
  std::atomic<std::uintptr_t> bits{0};  // bits of the handle, for look-ups; 0: none
};

// The program holds so many requests: while it is 0, completion calls are the MPI's alone.
extern std::atomic<int> requests_held;
inline bool any_requests() { return requests_held.load(std::memory_order_relaxed) != 0; }

// Return a request for a new nonblocking operation, or for a persistent one, which is null if none
// can be made. A persistent operation is carried out in `ranks`, which are its own until it is
// freed.
CollectiveRequest& acquire_nonblocking(Communicator& communicator);
CollectiveRequest* acquire_persistent(Communicator& communicator, OwnRanks* ranks);

// Returns what Sumac keeps for the request; null for the MPI's own.
CollectiveRequest* find_request(MpiRequest request);

// Begins the call that request.described tells of. `direct` is what is tried first.
void begin(CollectiveRequest& request, const DirectTry& direct);

// These wait for the end of a request that has begun, or look if the end has come.
void wait_for(CollectiveRequest& request);
bool test(CollectiveRequest& request);

// Puts the data of a request that has ended where the program wants them. The program may read and
// write them as soon as any call has told it of the end: later calls of deliver() do nothing.
void deliver(CollectiveRequest& request);

// Returns true for a persistent request that the program has started and whose end it has not been
// told.
bool is_active(const CollectiveRequest& request);

// Tells the program of the end: fills the status, and gives the request back to the MPI's rules (a
// nonblocking one becomes MPI_REQUEST_NULL). Returns false if the MPI already knows of the start
// and must be asked.
bool take_end(CollectiveRequest& request, RequestPointer handle, StatusPointer status);

// Brings the MPI's requests up to date: after this the MPI's own completion calls give the right
// answers.
void show(RequestPointer requests, int count);

// Fills the status of a collective: nothing received, not cancelled; MPI_ERROR is not touched.
void fill_status(StatusPointer status);

// Tells the communicator's error handler that the program has used the request in a way that is not
// allowed.
int refuse(const CollectiveRequest& request, int error);

// Frees a persistent request. A request that is still active, which is the program's mistake, is
// completed first.
void free_persistent(CollectiveRequest& request, RequestPointer handle);

// Waits until nothing is under way on the communicator.
void drain(Communicator& communicator);
// Must be called at finalisation: ends everything under way, and gives requests kept for later back
// to the MPI.
void end_requests();

// These begin or initialise nonblocking and persistent calls that have been decided. Whatever must
// happen at the end of one belongs around deliver(). They return what the program's call returns. A
// call that is handed down may be decided anew, as in perform_now().
int perform_nonblocking(Entry& entry, const Call& call, const Decision& decision);
int perform_persistent(Entry& entry, const Call& call, const Decision& decision);

// Begins the call that the request describes, with the data as they are now.
void start(CallRecord& record, CollectiveRequest& request);

}  // namespace sumac

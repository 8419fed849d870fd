// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collectives of Sumac's behind requests of the MPI's.
//
// A nonblocking one has a generalized request; a persistent one the request of a persistent receive
// of no bytes from this process itself. So a request works in every call, in every language and in
// arrays with the MPI's own. The MPI learns of both late: MPI_Wait and the like look a request of
// Sumac's up and end it themselves, and the generalized request, which the MPI still takes for one
// under way, serves the next call. Only where requests are asked about in a way that only the MPI
// can answer (MPI_Waitany, MPI_Testsome) is it shown how things stand.
#pragma once

#include "interpose/calls/call_data.h"
#include "interpose/calls/check.h"
#include "interpose/mpi/handle_types.h"
#include "interpose/requests/carriers.h"

namespace sumac {

struct CollectiveRequest : Work {
  enum class Phase : std::uint8_t {
    idle,   // persistent: inactive. Nonblocking: not the program's
    begun,  // and once `ended`, the program has not been told
    shown,  // the MPI knows of the end, and will tell
  };

  Communicator* communicator = nullptr;
  ChosenCall described;
  // The direct algorithm that may be tried, or native, and whether this operation tries.
  Algorithm may_go_direct = Algorithm::native;
  bool tries_direct = false;
  CallData data;
  std::unique_ptr<ResultCheck> check;  // of the result, else null
  bool delivered = false;              // the data are where the program wants them
  OwnRanks* own_ranks = nullptr;       // persistent, unless local

  MpiRequest handle = kMpi.request_null;
  bool persistent = false;
  bool carried = false;  // persistent: the MPI has been told of this start
  Carrier carrier;       // persistent

  // MPI allows only one of the threads that know a request to ask about it at a time.
  Phase phase = Phase::idle;
  std::atomic<std::uintptr_t> bits{0};  // of the handle, for who looks it up; 0: none
};

// The number of requests that the program holds: while it is 0, completion calls are the MPI's
// alone.
extern std::atomic<int> requests_held;
inline bool any_requests() { return requests_held.load(std::memory_order_relaxed) != 0; }

// A request for a new nonblocking operation; for a persistent one, null where none can be made.
// `ranks`: where a persistent operation is carried out, its own until it is freed.
CollectiveRequest& acquire_nonblocking(Communicator& communicator);
CollectiveRequest* acquire_persistent(Communicator& communicator, OwnRanks* ranks);

// What Sumac keeps for the request; null for the MPI's own.
CollectiveRequest* find_request(MpiRequest request);

// Begins the call that request.described tells of. `direct`: what is tried first.
void begin(CollectiveRequest& request, const DirectTry& direct);

// Of a request that has begun: waits for its end, or looks whether it has come.
void wait_for(CollectiveRequest& request);
bool test(CollectiveRequest& request);

// Puts the data of a request that has ended where the program wants them. The program may read and
// write them as soon as any call has told it of the end: later calls of this do nothing.
void deliver(CollectiveRequest& request);

// True for a persistent request that the program has started and whose end it has not been told.
bool is_active(const CollectiveRequest& request);

// Tells the program of the end: fills the status, and gives the request back to the MPI's rules (a
// nonblocking one becomes MPI_REQUEST_NULL). Returns false when the MPI already knows of the start
// and must be asked.
bool take_end(CollectiveRequest& request, RequestPointer handle, StatusPointer status);

// Brings the MPI's requests up to date: after this the MPI's own completion calls give the right
// answers.
void show(RequestPointer requests, int count);

// The status of a collective: nothing received, not cancelled; MPI_ERROR is not touched.
void fill_status(StatusPointer status);

// Tells the communicator's error handler that the program has used the request in a way that is not
// allowed.
int refuse(const CollectiveRequest& request, int error);

// Frees a persistent request. One that is still active, which is the program's mistake, is
// completed first.
void free_persistent(CollectiveRequest& request, RequestPointer handle);

// Waits until nothing is under way on the communicator.
void drain(Communicator& communicator);
// At finalisation: ends everything under way, and gives requests kept for later back to the MPI.
void end_requests();

}  // namespace sumac

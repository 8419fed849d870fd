// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collectives of Sumac's behind requests of the MPI's.
//
// A nonblocking one has a generalized request; a persistent one the request of a persistent receive
// of no bytes from this process itself. So a request works in every call, in every language and in
// arrays with the MPI's own. Both are told to the MPI late: MPI_Wait and the like look a request of
// Sumac's up and end it themselves, and the generalized request, which the MPI still takes for one
// under way, serves the next call. Only where requests are asked about in a way that only the MPI
// can answer (MPI_Waitany, MPI_Testsome) is it shown how things stand.
#pragma once

#include <mpi.h>

#include "interpose/backend/call_data.h"
#include "interpose/backend/carriers.h"

namespace sumac {

struct CollectiveRequest : Work {
  enum class Phase : std::uint8_t {
    idle,   // persistent: inactive. Nonblocking: not the program's
    begun,  // and once `ended`, the program has not been told
    shown,  // the MPI knows of the end, and will tell
  };

  Communicator* communicator = nullptr;
  CallData data;
  bool delivered = false;         // the data are where the program wants them
  OwnRanks* own_ranks = nullptr;  // persistent, unless local

  MPI_Request handle = MPI_REQUEST_NULL;
  bool persistent = false;
  bool carried = false;  // persistent: the MPI has been told of this start
  Carrier carrier;       // persistent

  // Of the threads that know a request one alone asks about it at a time, as MPI has it.
  Phase phase = Phase::idle;
  std::atomic<std::uintptr_t> bits{0};  // of the handle, for who looks it up; 0: none
};

// Requests that the program holds: while there are none, completion calls are the MPI's alone.
extern std::atomic<int> requests_held;
inline bool any_requests() { return requests_held.load(std::memory_order_relaxed) != 0; }

// A request for a new nonblocking operation; for a persistent one null where there can be none.
// `ranks`: those that carry a persistent one out, which are its own until it is freed.
CollectiveRequest& acquire_nonblocking(Communicator& communicator);
CollectiveRequest* acquire_persistent(Communicator& communicator, OwnRanks* ranks);

// What Sumac keeps of the request; null for the MPI's own.
CollectiveRequest* find_request(MPI_Request request);

// Begins what request.call describes.
void begin(CollectiveRequest& request);

// One that has begun: waits for its end; looks whether it has come.
void wait_for(CollectiveRequest& request);
bool test(CollectiveRequest& request);

// One that has ended: puts the data where the program wants them. The program may look at them, and
// write them, as soon as any call has told it of the end: later calls do nothing.
void deliver(CollectiveRequest& request);

// A persistent one that the program has started, and has not been told the end of.
bool is_active(const CollectiveRequest& request);

// The program learns of the end: fills the status, and gives the request back to the MPI's rules (a
// nonblocking one becomes MPI_REQUEST_NULL). False when the MPI knows of the start already, and
// must be asked.
bool take_end(CollectiveRequest& request, MPI_Request* handle, MPI_Status* status);

// The MPI's requests as they should be: after this the MPI's own completion calls tell the truth.
void show(MPI_Request* requests, int count);

// As MPI leaves it for a collective: nothing received, not cancelled; MPI_ERROR is not touched.
void fill_status(MPI_Status* status);

// The program does with the request what it may not: the communicator's error handler is told.
int refuse(const CollectiveRequest& request, int error);

// A persistent request goes. One that is active, the program's mistake, ends before.
void free_persistent(CollectiveRequest& request, MPI_Request* handle);

// Until nothing is under way on the communicator.
void drain(Communicator& communicator);
// At finalisation: ends all that is under way, and gives requests kept for later back to the MPI.
void end_requests();

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This header stands before the MPI's calls about requests. There is one function for each of them,
// which makes the call and says which requests have ended, and how. The requests of Sumac's own
// operations are served by one RequestServer; whoever wants to know of the ends of others holds
// them (held_requests.h).
#pragma once

#include <cstdint>
#include <optional>

#include "interpose/mpi/handle_types.h"
#include "interpose/mpi/mpi_functions.h"
#include "strands/waiting.h"

namespace sumac {

// This is a call of the program's that waits for requests, tests them, or looks at them.
struct RequestCall {
  enum class Which : std::uint8_t { one, all, any, some };
  // MPI_Request_get_status and its kin look: the requests and the program's array stay as they are.
  enum class How : std::uint8_t { wait, test, look };

  Which which;
  How how;
  int count;
  RequestPointer requests;
  StatusPointer statuses;
  // The call returns these; those that its function does not have are null.
  int* done = nullptr;
  int* index = nullptr;
  int* ended = nullptr;
  int* indices = nullptr;
};

// Serves the requests of Sumac's own operations, and advances what is under way. It decides how
// long a call waits, so there is one, and it is asked before the MPI is.
class RequestServer {
 public:
  enum class Answer : std::uint8_t {
    not_own,    // the MPI knows all about the request
    under_way,  // only if the call does not wait
    ended,      // the program has been told, by the status
    shown,      // it has ended, and the MPI, which has been told, must tell the program
  };

  // Returns true while the program holds requests of the server's. Otherwise the server is not
  // asked anything.
  virtual bool has_requests() const = 0;
  // Returns true if operations are under way, which a call that waits has to advance.
  virtual bool is_busy() const = 0;
  // Advances what is under way. Returns true if anything moved. A caller that `waits` also does
  // what other ranks have left.
  virtual bool advance(bool waits) = 0;
  virtual WaitPolicy wait_policy() const = 0;
  // Waits for a request, tests it or looks at it.
  virtual Answer answer(RequestPointer request, StatusPointer status, RequestCall::How how) = 0;
  // Brings the MPI's requests up to date. After this the MPI gives the right answers about them.
  virtual void show(RequestPointer requests, int count) = 0;
  // These return the error of the call if the request is the server's.
  virtual std::optional<int> start(RequestPointer request) = 0;
  virtual std::optional<int> free(RequestPointer request) = 0;
  virtual std::optional<int> cancel(RequestPointer request) = 0;

 protected:
  ~RequestServer() = default;
};

// Makes the call, for the server's requests and for the MPI's. Without a server, or while it has no
// requests, the call is the MPI's alone.
int complete(RequestServer* server, const RequestCall& call);

// Puts the functions of this header in the place of the MPI's. `server` may be null.
void serve_requests(RequestServer* server, MpiFunctions& calls);

}  // namespace sumac

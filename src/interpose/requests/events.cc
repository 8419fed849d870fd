// SPDX-License-Identifier: BSD-3-Clause
// This file has the one function for each call about requests, and the one place that says which
// requests have ended. After MPI_ERR_IN_STATUS the statuses say it; after any other error a request
// has ended if its handle is null.
#include "interpose/requests/events.h"

#include <vector>

#include "base/cpu.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/requests/held_requests.h"

namespace sumac {
namespace {

using Which = RequestCall::Which;
using How = RequestCall::How;

RequestServer* server = nullptr;

bool is_in_status(int error) {
  if (error == kMpiSuccess) return false;
  int error_class = kMpiSuccess;
  mpi.Error_class(error, &error_class);
  return error_class == kMpi.err_in_status;
}

// This is a call about requests some of which are held.
class ObservedCall {
 public:
  ObservedCall(const RequestCall& call, AskedRequests& asked)
      : call_(call), asked_(asked), begin_ns_(clock_ns()) {
    if (!call.statuses.is_ignored()) return;
    own_.resize(static_cast<std::size_t>(call.count));
    call_.statuses = own_.data();
  }

  // Makes the call, with statuses even if the program wants none, and tells the holders.
  int make() {
    const int error = complete(server, call_);
    note_ends(error);
    asked_.tell(ends_, {begin_ns_, clock_ns()});
    return error;
  }

 private:
  void note_ends(int error) {
    // Nothing is known after a look that has failed.
    if (call_.how == How::look && error != kMpiSuccess) return;
    const bool done = error == kMpiSuccess && (!call_.done || *call_.done);
    switch (call_.which) {
      case Which::one:
        if (done || (error != kMpiSuccess && is_null(0))) end(0, call_.statuses, !error);
        return;
      case Which::all:
        return end_all(error, done);
      case Which::any:
        if (done || error != kMpiSuccess) end(*call_.index, call_.statuses, !error);
        return;
      case Which::some:
        return end_some(error);
    }
  }
  void end_all(int error, bool done) {
    const bool in_status = is_in_status(error);
    for (std::ptrdiff_t i = 0; i < call_.count; ++i) {
      const int own_error = in_status ? (call_.statuses + i).error() : error;
      bool ended = error == kMpiSuccess ? done : is_null(i);
      if (in_status) ended = own_error != kMpi.err_pending;
      if (ended) end(i, call_.statuses + i, own_error == kMpiSuccess);
    }
  }
  void end_some(int error) {
    const bool in_status = is_in_status(error);
    if (error != kMpiSuccess && !in_status) return end_all(error, false);
    if (*call_.ended == kMpi.undefined) return;
    for (int k = 0; k < *call_.ended; ++k) {
      const StatusPointer status = call_.statuses + k;
      end(call_.indices[k], status, !in_status || status.error() == kMpiSuccess);
    }
  }
  bool is_null(std::ptrdiff_t index) const { return call_.requests[index] == kMpi.request_null; }
  // The index is MPI_UNDEFINED if no request has ended, and may be anything after an error.
  void end(std::ptrdiff_t index, StatusPointer status, bool success) {
    if (index >= 0 && index < call_.count) ends_.push_back({index, status, success});
  }

  RequestCall call_;
  AskedRequests& asked_;
  const std::uint64_t begin_ns_;
  std::vector<RequestEnd> ends_;
  StatusArray own_;
};

[[gnu::noinline]] int observe(const RequestCall& call) {
  look_at_freed();
  if (call.count <= 0 || !call.requests) return complete(server, call);
  AskedRequests asked(call.count, call.requests, call.how == How::look);
  return asked.any() ? ObservedCall(call, asked).make() : complete(server, call);
}

int make(const RequestCall& call) { return any_held() ? observe(call) : complete(server, call); }

int wait(RequestPointer request, StatusPointer status) {
  return make({Which::one, How::wait, 1, request, status});
}

int test(RequestPointer request, int* done, StatusPointer status) {
  return make({Which::one, How::test, 1, request, status, done});
}

int get_status(MpiRequest request, int* done, StatusPointer status) {
  return make({Which::one, How::look, 1, one(request), status, done});
}

int waitall(int count, RequestPointer requests, StatusPointer statuses) {
  return make({Which::all, How::wait, count, requests, statuses});
}

int testall(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  return make({Which::all, How::test, count, requests, statuses, done});
}

int get_status_all(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  return make({Which::all, How::look, count, requests, statuses, done});
}

int waitany(int count, RequestPointer requests, int* index, StatusPointer status) {
  return make({Which::any, How::wait, count, requests, status, nullptr, index});
}

int testany(int count, RequestPointer requests, int* index, int* done, StatusPointer status) {
  return make({Which::any, How::test, count, requests, status, done, index});
}

int get_status_any(int count, RequestPointer requests, int* index, int* done,
                   StatusPointer status) {
  return make({Which::any, How::look, count, requests, status, done, index});
}

// This serves MPI_Waitsome, MPI_Testsome and MPI_Request_get_status_some.
template <How how>
int some(int count, RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  return make({Which::some, how, count, requests, statuses, nullptr, nullptr, ended, indices});
}

// Returns the server if the request may be one of its own.
RequestServer* server_of(RequestPointer request) {
  return server && server->has_requests() && request ? server : nullptr;
}

int start_one(RequestPointer request) {
  RequestServer* const asked = server_of(request);
  const std::optional<int> error = asked ? asked->start(request) : std::nullopt;
  return error ? *error : mpi.Start(request);
}

int start_all(int count, RequestPointer requests) {
  if (!server_of(requests)) return mpi.Startall(count, requests);
  for (int i = 0; i < count; ++i) {
    if (const int error = start_one(requests + i)) return error;
  }
  return kMpiSuccess;
}

template <class Make>
int start_by(Make make, int count, RequestPointer requests) {
  if (!any_held() || count <= 0 || !requests) return make();
  tell_starts(count, requests);
  const std::uint64_t begin = clock_ns();
  const int error = make();
  if (error == kMpiSuccess) tell_started(count, requests, {begin, clock_ns()});
  return error;
}

int start(RequestPointer request) {
  return start_by([&] { return start_one(request); }, 1, request);
}

int startall(int count, RequestPointer requests) {
  return start_by([&] { return start_all(count, requests); }, count, requests);
}

int request_free(RequestPointer request) {
  look_at_freed();
  if (request && take_freed(*request)) {
    request.set(kMpi.request_null);
    return kMpiSuccess;
  }
  RequestServer* const asked = server_of(request);
  const std::optional<int> error = asked ? asked->free(request) : std::nullopt;
  return error ? *error : mpi.Request_free(request);
}

int cancel(RequestPointer request) {
  RequestServer* const asked = server_of(request);
  const std::optional<int> error = asked ? asked->cancel(request) : std::nullopt;
  return error ? *error : mpi.Cancel(request);
}

}  // namespace

void serve_requests(RequestServer* by, MpiFunctions& calls) {
  server = by;
  calls.Start = start;
  calls.Startall = startall;
  calls.Wait = wait;
  calls.Waitall = waitall;
  calls.Waitany = waitany;
  calls.Waitsome = some<How::wait>;
  calls.Test = test;
  calls.Testall = testall;
  calls.Testany = testany;
  calls.Testsome = some<How::test>;
  calls.Request_get_status = get_status;
  calls.Request_get_status_all = get_status_all;
  calls.Request_get_status_any = get_status_any;
  calls.Request_get_status_some = some<How::look>;
  calls.Request_free = request_free;
  calls.Cancel = cancel;
}

}  // namespace sumac

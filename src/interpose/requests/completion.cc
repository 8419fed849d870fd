// SPDX-License-Identifier: BSD-3-Clause
// This file makes calls about requests. While the program holds no request of the server's, they
// are the MPI's own. Otherwise they also advance what is under way, so that a rank's part in
// collectives goes on whatever the rank waits for.
#include "interpose/requests/events.h"

#include <vector>

namespace sumac {
namespace {

using Which = RequestCall::Which;
using How = RequestCall::How;
using Answer = RequestServer::Answer;

int make_one(const RequestCall& c) {
  switch (c.how) {
    case How::wait:
      return mpi.Wait(c.requests, c.statuses);
    case How::test:
      return mpi.Test(c.requests, c.done, c.statuses);
    case How::look:
      break;
  }
  return mpi.Request_get_status(*c.requests, c.done, c.statuses);
}

int make_all(const RequestCall& c) {
  switch (c.how) {
    case How::wait:
      return mpi.Waitall(c.count, c.requests, c.statuses);
    case How::test:
      return mpi.Testall(c.count, c.requests, c.done, c.statuses);
    case How::look:
      break;
  }
  return mpi.Request_get_status_all(c.count, c.requests, c.done, c.statuses);
}

int make_any(const RequestCall& c) {
  switch (c.how) {
    case How::wait:
      return mpi.Waitany(c.count, c.requests, c.index, c.statuses);
    case How::test:
      return mpi.Testany(c.count, c.requests, c.index, c.done, c.statuses);
    case How::look:
      break;
  }
  return mpi.Request_get_status_any(c.count, c.requests, c.index, c.done, c.statuses);
}

int make_some(const RequestCall& c) {
  switch (c.how) {
    case How::wait:
      return mpi.Waitsome(c.count, c.requests, c.ended, c.indices, c.statuses);
    case How::test:
      return mpi.Testsome(c.count, c.requests, c.ended, c.indices, c.statuses);
    case How::look:
      break;
  }
  return mpi.Request_get_status_some(c.count, c.requests, c.ended, c.indices, c.statuses);
}

// Asks the MPI.
int make(const RequestCall& call) {
  switch (call.which) {
    case Which::one:
      return make_one(call);
    case Which::all:
      return make_all(call);
    case Which::any:
      return make_any(call);
    case Which::some:
      break;
  }
  return make_some(call);
}

// Makes a call that waits by tests, and advances what is under way between them.
int wait_by_tests(RequestServer& server, RequestCall call) {
  int done = 0;
  call.how = How::test;
  call.done = &done;
  const WaitPolicy policy = server.wait_policy();
  while (true) {
    Waiting waiting(policy);
    for (bool moved = false; !moved;) {
      moved = server.advance(true);
      if (call.which != Which::one) server.show(call.requests, call.count);
      const int error = make(call);
      if (call.which == Which::some) done = *call.ended != 0;
      if (done || error != kMpiSuccess) return error;
      if (!moved) waiting.step(false);
    }
  }
}

int complete_one(RequestServer& server, const RequestCall& call) {
  const Answer answer = server.answer(call.requests, call.statuses, call.how);
  if (answer != Answer::not_own && call.done) *call.done = answer != Answer::under_way;
  switch (answer) {
    case Answer::under_way:
    case Answer::ended:
      return kMpiSuccess;
    case Answer::shown:
      // The MPI may already have been asked. It must not say now that the operation goes on, as
      // Intel MPI does until it has progressed once more.
      return mpi.Wait(call.requests, call.statuses);
    case Answer::not_own:
      break;
  }
  if (call.how == How::wait) return server.is_busy() ? wait_by_tests(server, call) : make(call);
  server.advance(false);
  return make(call);
}

// Ends the server's requests, and notes which they are. Returns their number.
int end_own(RequestServer& server, const RequestCall& call, std::vector<bool>& ended) {
  int told = 0;
  for (int i = 0; i < call.count; ++i) {
    const StatusPointer status = status_at(call.statuses, i);
    if (server.answer(call.requests + i, status, How::wait) != Answer::ended) continue;
    ++told;
    if (told == 1) ended.resize(static_cast<std::size_t>(call.count));
    ended[static_cast<std::size_t>(i)] = true;
  }
  return told;
}

// Waits for the requests that have not `ended`, one after another. MPI_Testall fails in MPICH 4.0
// if some of the MPI's own persistent collectives have ended and others have not. An error in one
// request makes MPI_ERROR significant in all statuses.
int wait_one_by_one(RequestServer& server, const RequestCall& call,
                    const std::vector<bool>& ended) {
  std::vector<int> errors;
  for (int i = 0; i < call.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!ended.empty() && ended[at]) continue;
    const StatusPointer status = status_at(call.statuses, i);
    const int error = wait_by_tests(server, {Which::one, How::wait, 1, call.requests + i, status});
    if (error == kMpiSuccess) continue;
    errors.resize(static_cast<std::size_t>(call.count), kMpiSuccess);
    errors[at] = error;
  }
  if (errors.empty()) return kMpiSuccess;
  for (std::size_t i = 0; i < errors.size() && !call.statuses.is_ignored(); ++i) {
    (call.statuses + static_cast<std::ptrdiff_t>(i)).set_error(errors[i]);
  }
  return kMpi.err_in_status;
}

int wait_for_all(RequestServer& server, const RequestCall& call) {
  std::vector<bool> ended;
  const int told = end_own(server, call, ended);
  // Requests ended here are null or inactive for the MPI, with the same status.
  if (told == call.count) return kMpiSuccess;
  if (server.is_busy()) return wait_one_by_one(server, call, ended);
  const int error = make(call);
  if (error == kMpiSuccess || told == 0 || call.statuses.is_ignored()) return error;
  int error_class = kMpiSuccess;
  mpi.Error_class(error, &error_class);
  for (std::size_t i = 0; i < ended.size() && error_class == kMpi.err_in_status; ++i) {
    if (ended[i]) (call.statuses + static_cast<std::ptrdiff_t>(i)).set_error(kMpiSuccess);
  }
  return error;
}

// Makes a call about several requests that does not wait.
int ask_about_several(RequestServer& server, const RequestCall& call) {
  server.advance(false);
  if (call.how == How::test) {
    server.show(call.requests, call.count);
  } else {
    HandleArray<MpiRequest> copies;
    copies.assign(call.requests, static_cast<std::size_t>(call.count));
    server.show(copies.data(), call.count);
  }
  return make(call);
}

}  // namespace

int complete(RequestServer* server, const RequestCall& call) {
  if (!server || !server->has_requests() || !call.requests || call.count < 0) return make(call);
  if (call.which == Which::one) return complete_one(*server, call);
  if (call.how != How::wait) return ask_about_several(*server, call);
  return call.which == Which::all ? wait_for_all(*server, call) : wait_by_tests(*server, call);
}

}  // namespace sumac

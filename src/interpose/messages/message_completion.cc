// SPDX-License-Identifier: BSD-3-Clause
// The completion calls, for requests whose messages Sumac has packed: the calls behind these are
// asked, and what has arrived is unpacked before the program is told.
#include <vector>

#include "interpose/messages/kept_messages.h"
#include "interpose/messages/point_to_point.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

RequestCalls below;

// The requests that a call is about, as they were before it.
class Asked {
 public:
  Asked(int count, const MPI_Request* requests) {
    look_at_adopted();
    if (count <= 0 || !requests || no_message_kept()) return;
    any_ = is_any_kept(count, requests);
    if (any_) before_.assign(requests, requests + count);
  }

  // Whether messages are among them.
  bool any() const { return any_; }

  // Statuses for the call, where the program wants none.
  MPI_Status* status(MPI_Status* given) { return given == MPI_STATUS_IGNORE ? own(1) : given; }
  MPI_Status* statuses(MPI_Status* given) {
    return given == MPI_STATUSES_IGNORE ? own(before_.size()) : given;
  }

  // Request `i` has ended.
  void end(int i, const MPI_Status& status, bool success) const {
    if (i == MPI_UNDEFINED) return;
    end_message(before_[static_cast<std::size_t>(i)], status, success);
  }
  // The same, but the request is still there.
  void look_into(int i, const MPI_Status& status) const {
    if (i == MPI_UNDEFINED) return;
    deliver_message(before_[static_cast<std::size_t>(i)], status);
  }
  // After a call with an error, which of several requests have ended, and how, is in the statuses.
  void end_all(const MPI_Request* requests, const MPI_Status* statuses, int error) const {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (requests[i] != MPI_REQUEST_NULL) continue;
      end(static_cast<int>(i), statuses[i], succeeded(error, statuses[i]));
    }
  }
  void end_some(int count, const int* indices, const MPI_Status* statuses, int error) const {
    for (int k = 0; count != MPI_UNDEFINED && k < count; ++k) {
      end(indices[k], statuses[k], succeeded(error, statuses[k]));
    }
  }

 private:
  MPI_Status* own(std::size_t number) {
    own_.resize(number);
    return own_.data();
  }
  static bool succeeded(int error, const MPI_Status& status) {
    if (error == MPI_SUCCESS) return true;
    int error_class = MPI_SUCCESS;
    mpi.Error_class(error, &error_class);
    return error_class == MPI_ERR_IN_STATUS && status.MPI_ERROR == MPI_SUCCESS;
  }

  bool any_ = false;
  std::vector<MPI_Request> before_;
  std::vector<MPI_Status> own_;
};

int wait(MPI_Request* request, MPI_Status* status) {
  Asked asked(1, request);
  if (!asked.any()) return below.wait(request, status);
  status = asked.status(status);
  const int error = below.wait(request, status);
  if (*request == MPI_REQUEST_NULL) asked.end(0, *status, error == MPI_SUCCESS);
  return error;
}

int test(MPI_Request* request, int* done, MPI_Status* status) {
  Asked asked(1, request);
  if (!asked.any()) return below.test(request, done, status);
  status = asked.status(status);
  const int error = below.test(request, done, status);
  if (*request == MPI_REQUEST_NULL) asked.end(0, *status, error == MPI_SUCCESS);
  return error;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Asked asked(count, requests);
  if (!asked.any()) return below.waitall(count, requests, statuses);
  statuses = asked.statuses(statuses);
  const int error = below.waitall(count, requests, statuses);
  asked.end_all(requests, statuses, error);
  return error;
}

int testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  Asked asked(count, requests);
  if (!asked.any()) return below.testall(count, requests, done, statuses);
  statuses = asked.statuses(statuses);
  const int error = below.testall(count, requests, done, statuses);
  asked.end_all(requests, statuses, error);
  return error;
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Asked asked(count, requests);
  if (!asked.any()) return below.waitany(count, requests, index, status);
  status = asked.status(status);
  const int error = below.waitany(count, requests, index, status);
  asked.end(*index, *status, error == MPI_SUCCESS);
  return error;
}

int testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  Asked asked(count, requests);
  if (!asked.any()) return below.testany(count, requests, index, done, status);
  status = asked.status(status);
  const int error = below.testany(count, requests, index, done, status);
  if (*done) asked.end(*index, *status, error == MPI_SUCCESS);
  return error;
}

int waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  Asked asked(count, requests);
  if (!asked.any()) return below.waitsome(count, requests, ended, indices, statuses);
  statuses = asked.statuses(statuses);
  const int error = below.waitsome(count, requests, ended, indices, statuses);
  asked.end_some(*ended, indices, statuses, error);
  return error;
}

int testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  Asked asked(count, requests);
  if (!asked.any()) return below.testsome(count, requests, ended, indices, statuses);
  statuses = asked.statuses(statuses);
  const int error = below.testsome(count, requests, ended, indices, statuses);
  asked.end_some(*ended, indices, statuses, error);
  return error;
}

int get_status(MPI_Request request, int* done, MPI_Status* status) {
  Asked asked(1, &request);
  if (!asked.any()) return below.get_status(request, done, status);
  status = asked.status(status);
  const int error = below.get_status(request, done, status);
  if (error == MPI_SUCCESS && *done) asked.look_into(0, *status);
  return error;
}

int get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses) {
  Asked asked(count, requests);
  if (!asked.any()) return below.get_status_all(count, requests, done, statuses);
  statuses = asked.statuses(statuses);
  const int error = below.get_status_all(count, requests, done, statuses);
  for (int i = 0; error == MPI_SUCCESS && *done && i < count; ++i) asked.look_into(i, statuses[i]);
  return error;
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* done,
                   MPI_Status* status) {
  Asked asked(count, requests);
  if (!asked.any()) return below.get_status_any(count, requests, index, done, status);
  status = asked.status(status);
  const int error = below.get_status_any(count, requests, index, done, status);
  if (error == MPI_SUCCESS && *done) asked.look_into(*index, *status);
  return error;
}

int get_status_some(int count, const MPI_Request* requests, int* ended, int* indices,
                    MPI_Status* statuses) {
  Asked asked(count, requests);
  if (!asked.any()) return below.get_status_some(count, requests, ended, indices, statuses);
  statuses = asked.statuses(statuses);
  const int error = below.get_status_some(count, requests, ended, indices, statuses);
  if (error != MPI_SUCCESS || *ended == MPI_UNDEFINED) return error;
  for (int k = 0; k < *ended; ++k) asked.look_into(indices[k], statuses[k]);
  return error;
}

int request_free(MPI_Request* request) {
  if (!Asked(1, request).any()) return below.request_free(request);
  adopt_request(*request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

}  // namespace

RequestCalls message_request_calls(const RequestCalls& calls) {
  below = calls;
  return {calls.start,    calls.startall,  wait,         waitall,     waitany,    waitsome,
          test,           testall,         testany,      testsome,    get_status, get_status_all,
          get_status_any, get_status_some, request_free, calls.cancel};
}

}  // namespace sumac

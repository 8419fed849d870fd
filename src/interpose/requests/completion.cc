// SPDX-License-Identifier: BSD-3-Clause
// This file has the starts of persistent operations, and the completion calls. While the program
// holds no request of Sumac's, these are the MPI's own; otherwise they also advance what is under
// way, so that a rank's part in collectives goes on whatever it waits for.
#include "interpose/requests/events.h"

#include <optional>
#include <type_traits>
#include <vector>

#include "interpose/mpi/family.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/timed.h"
#include "interpose/requests/requests.h"
#include "interpose/requests/staged_requests.h"

namespace sumac {
namespace {

using Phase = CollectiveRequest::Phase;

// Returns Sumac's request, if the MPI has not been told of its end.
CollectiveRequest* find_untold(RequestPointer handle) {
  CollectiveRequest* request = handle ? find_request(*handle) : nullptr;
  return request && request->phase == Phase::begun ? request : nullptr;
}

// Advances what is under way in calls that do not wait: this rank does not take over work that
// others have left.
void look() { engine().progress(true, false); }

// Must be called before the MPI is asked about several requests.
void look_and_show(RequestPointer requests, int count) {
  if (!any_requests() || !requests) return;
  look();
  show(requests, count);
}

// Asks the MPI by ask(done), which returns an error, until it is done or fails.
template <class Ask>
int until_done(Ask ask) {
  WaitPolicy policy = wait_policy_of_process();
  policy.late = report_late_anywhere;
  while (true) {
    Waiting waiting(policy);
    for (bool moved = false; !moved;) {
      moved = engine().progress();
      int done = 0;
      const int error = ask(done);
      if (done || error != kMpiSuccess) return error;
      if (!moved) waiting.step(false);
    }
  }
}

int start_one(RequestPointer handle) {
  CollectiveRequest* own = any_requests() && handle ? find_request(*handle) : nullptr;
  if (!own) {
    load_staged(1, handle);
    return mpi.Start(handle);
  }
  if (!own->persistent || is_active(*own)) return refuse(*own, kMpi.err_request);
  const Collective collective = own->described.collective;
  std::optional<TimedCall> timed;
  if (calls_are_timed()) timed.emplace(collective);
  CallRecord record(collective);
  start(record, *own);
  return kMpiSuccess;
}

int startall(int count, RequestPointer handles) {
  if (!any_requests() || !handles) {
    load_staged(count, handles);
    return mpi.Startall(count, handles);
  }
  for (int i = 0; i < count; ++i) {
    if (const int error = start_one(handles + i)) return error;
  }
  return kMpiSuccess;
}

int wait(RequestPointer request, StatusPointer status) {
  if (!any_requests()) return mpi.Wait(request, status);
  if (CollectiveRequest* own = find_untold(request)) {
    wait_for(*own);
    if (take_end(*own, request, status)) return kMpiSuccess;
  }
  if (engine().idle()) return mpi.Wait(request, status);
  return until_done([&](int& done) { return mpi.Test(request, &done, status); });
}

int test_one(RequestPointer request, int* done, StatusPointer status) {
  if (!any_requests()) return mpi.Test(request, done, status);
  if (CollectiveRequest* own = find_untold(request)) {
    *done = test(*own);
    if (!*done || take_end(*own, request, status)) return kMpiSuccess;
    // The MPI has been told, and may already have been asked: it must not say now that the
    // operation goes on, as Intel MPI does until it has progressed once more.
    return mpi.Wait(request, status);
  }
  look();
  return mpi.Test(request, done, status);
}

// Ends Sumac's own requests, and notes which they are. Returns their number.
int end_own(int count, RequestPointer requests, StatusPointer statuses, std::vector<bool>& ended) {
  int told = 0;
  for (int i = 0; i < count; ++i) {
    CollectiveRequest* own = find_untold(requests + i);
    if (!own) continue;
    wait_for(*own);
    StatusPointer status = status_at(statuses, i);
    if (!take_end(*own, requests + i, status)) continue;
    ++told;
    if (told == 1) ended.resize(static_cast<std::size_t>(count));
    ended[static_cast<std::size_t>(i)] = true;
  }
  return told;
}

// Does MPI_Waitall for the requests that have not `ended`: it advances what is under way and waits
// for one request after another. MPI_Testall fails in MPICH 4.0 if some of the MPI's own persistent
// collectives have ended and others have not. An error in one request makes MPI_ERROR significant
// in all statuses.
int wait_one_by_one(int count, RequestPointer requests, StatusPointer statuses,
                    const std::vector<bool>& ended) {
  std::vector<int> errors;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!ended.empty() && ended[at]) continue;
    StatusPointer status = status_at(statuses, i);
    const int error = until_done([&](int& done) { return mpi.Test(requests + i, &done, status); });
    if (error == kMpiSuccess) continue;
    errors.resize(static_cast<std::size_t>(count), kMpiSuccess);
    errors[at] = error;
  }
  if (errors.empty()) return kMpiSuccess;
  for (std::size_t i = 0; i < errors.size() && !statuses.is_ignored(); ++i) {
    (statuses + i).set_error(errors[i]);
  }
  return kMpi.err_in_status;
}

int waitall(int count, RequestPointer requests, StatusPointer statuses) {
  if (!any_requests() || count < 0 || !requests) return mpi.Waitall(count, requests, statuses);
  std::vector<bool> ended;
  const int told = end_own(count, requests, statuses, ended);
  // Requests ended here are null or inactive for the MPI, with the same status.
  if (told == count) return kMpiSuccess;
  if (!engine().idle()) return wait_one_by_one(count, requests, statuses, ended);
  const int error = mpi.Waitall(count, requests, statuses);
  if (error == kMpiSuccess || told == 0 || statuses.is_ignored()) return error;
  int error_class = kMpiSuccess;
  mpi.Error_class(error, &error_class);
  for (std::size_t i = 0; i < ended.size() && error_class == kMpi.err_in_status; ++i) {
    if (ended[i]) (statuses + i).set_error(kMpiSuccess);
  }
  return error;
}

int testall(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  look_and_show(requests, count);
  return mpi.Testall(count, requests, done, statuses);
}

int waitany(int count, RequestPointer requests, int* index, StatusPointer status) {
  if (!any_requests() || !requests) return mpi.Waitany(count, requests, index, status);
  return until_done([&](int& done) {
    show(requests, count);
    return mpi.Testany(count, requests, index, &done, status);
  });
}

int testany(int count, RequestPointer requests, int* index, int* done, StatusPointer status) {
  look_and_show(requests, count);
  return mpi.Testany(count, requests, index, done, status);
}

int waitsome(int count, RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  if (!any_requests() || !requests) {
    return mpi.Waitsome(count, requests, ended, indices, statuses);
  }
  return until_done([&](int& done) {
    show(requests, count);
    const int error = mpi.Testsome(count, requests, ended, indices, statuses);
    done = *ended != 0;
    return error;
  });
}

int testsome(int count, RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  look_and_show(requests, count);
  return mpi.Testsome(count, requests, ended, indices, statuses);
}

int get_status(MpiRequest request, int* done, StatusPointer status) {
  if (!any_requests()) return mpi.Request_get_status(request, done, status);
  if (CollectiveRequest* own = find_untold(one(request))) {
    *done = test(*own);
    if (!*done) return kMpiSuccess;
    deliver(*own);
    fill_status(status);
    return kMpiSuccess;
  }
  look();
  return mpi.Request_get_status(request, done, status);
}

// MPI 4.1's calls about several requests leave the program's array as it is.
void look_and_show_copies(RequestPointer requests, int count) {
  if (!any_requests() || !requests || count < 0) return;
  HandleArray<MpiRequest> copies;
  copies.assign(requests, static_cast<std::size_t>(count));
  look_and_show(copies.data(), count);
}

int get_status_all(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  look_and_show_copies(requests, count);
  return mpi.Request_get_status_all(count, requests, done, statuses);
}

int get_status_any(int count, RequestPointer requests, int* index, int* done,
                   StatusPointer status) {
  look_and_show_copies(requests, count);
  return mpi.Request_get_status_any(count, requests, index, done, status);
}

int get_status_some(int count, RequestPointer requests, int* ended, int* indices,
                    StatusPointer statuses) {
  look_and_show_copies(requests, count);
  return mpi.Request_get_status_some(count, requests, ended, indices, statuses);
}

int request_free(RequestPointer handle) {
  if (!any_requests()) return mpi.Request_free(handle);
  CollectiveRequest* own = handle ? find_request(*handle) : nullptr;
  if (!own) return mpi.Request_free(handle);
  if (own->persistent) {
    free_persistent(*own, handle);
    return kMpiSuccess;
  }
  return refuse(*own, family() == Family::mpich ? kMpi.err_other : kMpi.err_request);
}

int cancel(RequestPointer handle) {
  const bool asks = any_requests() && handle;
  CollectiveRequest* own = asks ? find_request(*handle) : nullptr;
  if (!own) return mpi.Cancel(handle);
  return refuse(*own, kMpi.err_request);
}

}  // namespace

void serve_requests(MpiFunctions& calls) {
  calls.Start = start_one;
  calls.Startall = startall;
  calls.Wait = wait;
  calls.Waitall = waitall;
  calls.Waitany = waitany;
  calls.Waitsome = waitsome;
  calls.Test = test_one;
  calls.Testall = testall;
  calls.Testany = testany;
  calls.Testsome = testsome;
  calls.Request_get_status = get_status;
  calls.Request_get_status_all = get_status_all;
  calls.Request_get_status_any = get_status_any;
  calls.Request_get_status_some = get_status_some;
  calls.Request_free = request_free;
  calls.Cancel = cancel;
}

void redirect_requests(const sumac_stub& stub) {
  for (int call = SUMAC_CALL_Start; call <= SUMAC_CALL_Cancel; ++call) {
    put_in_front(stub, static_cast<sumac_call>(call));
  }
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Starts of persistent operations, and the completion calls. While no request of Sumac's is held
// these are the MPI's own; else they also advance what is under way, so that a rank's part in
// collectives goes on whatever it waits for.
#include "interpose/requests/completion.h"

#include <optional>
#include <type_traits>
#include <vector>

#include "interpose/mpi/family.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/timed.h"
#include "interpose/requests/deferred_calls.h"
#include "interpose/requests/requests.h"

namespace sumac {
namespace {

using Phase = CollectiveRequest::Phase;

// Sumac's request, if the MPI has not been told of its end.
CollectiveRequest* find_untold(const MPI_Request* handle) {
  CollectiveRequest* request = handle ? find_request(*handle) : nullptr;
  return request && request->phase == Phase::begun ? request : nullptr;
}

// For calls that do not wait: this rank does not take over work that others have left.
void look() { engine().progress(true, false); }

// To be called before the MPI is asked about several requests.
void look_and_show(MPI_Request* requests, int count) {
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
      if (done || error != MPI_SUCCESS) return error;
      if (!moved) waiting.step(false);
    }
  }
}

int start_one(MPI_Request* handle) {
  CollectiveRequest* own = any_requests() && handle ? find_request(*handle) : nullptr;
  if (!own) return mpi.Start(handle);
  if (!own->persistent || is_active(*own)) return refuse(*own, MPI_ERR_REQUEST);
  const Collective collective = own->described.collective;
  std::optional<TimedCall> timed;
  if (calls_are_timed()) timed.emplace(collective);
  CallRecord record(collective);
  start(record, *own);
  return MPI_SUCCESS;
}

int startall(int count, MPI_Request* handles) {
  if (!any_requests() || !handles) return mpi.Startall(count, handles);
  for (int i = 0; i < count; ++i) {
    if (const int error = start_one(&handles[i])) return error;
  }
  return MPI_SUCCESS;
}

int wait(MPI_Request* request, MPI_Status* status) {
  if (!any_requests()) return mpi.Wait(request, status);
  if (CollectiveRequest* own = find_untold(request)) {
    wait_for(*own);
    if (take_end(*own, request, status)) return MPI_SUCCESS;
  }
  if (engine().idle()) return mpi.Wait(request, status);
  return until_done([&](int& done) { return mpi.Test(request, &done, status); });
}

int test_one(MPI_Request* request, int* done, MPI_Status* status) {
  if (!any_requests()) return mpi.Test(request, done, status);
  if (CollectiveRequest* own = find_untold(request)) {
    *done = test(*own);
    if (!*done || take_end(*own, request, status)) return MPI_SUCCESS;
    // The MPI has been told, and may already have been asked: it may not say now that the operation
    // goes on, as Intel MPI does until it has progressed once more.
    return mpi.Wait(request, status);
  }
  look();
  return mpi.Test(request, done, status);
}

// Ends Sumac's own requests, and notes which they are. Returns their number.
int end_own(int count, MPI_Request* requests, MPI_Status* statuses, std::vector<bool>& ended) {
  int told = 0;
  for (int i = 0; i < count; ++i) {
    CollectiveRequest* own = find_untold(&requests[i]);
    if (!own) continue;
    wait_for(*own);
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    if (!take_end(*own, &requests[i], status)) continue;
    ++told;
    if (told == 1) ended.resize(static_cast<std::size_t>(count));
    ended[static_cast<std::size_t>(i)] = true;
  }
  return told;
}

// MPI_Waitall for the requests that have not `ended`, which advances what is under way and waits
// for one request after another. MPI_Testall fails in MPICH 4.0 where some of the MPI's own
// persistent collectives have ended and others have not. An error in one request makes MPI_ERROR
// significant in all statuses.
int wait_one_by_one(int count, MPI_Request* requests, MPI_Status* statuses,
                    const std::vector<bool>& ended) {
  std::vector<int> errors;
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!ended.empty() && ended[at]) continue;
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    const int error = until_done([&](int& done) { return mpi.Test(&requests[i], &done, status); });
    if (error == MPI_SUCCESS) continue;
    errors.resize(static_cast<std::size_t>(count), MPI_SUCCESS);
    errors[at] = error;
  }
  if (errors.empty()) return MPI_SUCCESS;
  for (std::size_t i = 0; i < errors.size() && statuses != MPI_STATUSES_IGNORE; ++i) {
    statuses[i].MPI_ERROR = errors[i];
  }
  return MPI_ERR_IN_STATUS;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!any_requests() || count < 0 || !requests) return mpi.Waitall(count, requests, statuses);
  std::vector<bool> ended;
  const int told = end_own(count, requests, statuses, ended);
  // Requests ended here are null or inactive for the MPI, with the same status.
  if (told == count) return MPI_SUCCESS;
  if (!engine().idle()) return wait_one_by_one(count, requests, statuses, ended);
  const int error = mpi.Waitall(count, requests, statuses);
  if (error == MPI_SUCCESS || told == 0 || statuses == MPI_STATUSES_IGNORE) return error;
  int error_class = MPI_SUCCESS;
  mpi.Error_class(error, &error_class);
  for (std::size_t i = 0; i < ended.size() && error_class == MPI_ERR_IN_STATUS; ++i) {
    if (ended[i]) statuses[i].MPI_ERROR = MPI_SUCCESS;
  }
  return error;
}

int testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  look_and_show(requests, count);
  return mpi.Testall(count, requests, done, statuses);
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  if (!any_requests() || !requests) return mpi.Waitany(count, requests, index, status);
  return until_done([&](int& done) {
    show(requests, count);
    return mpi.Testany(count, requests, index, &done, status);
  });
}

int testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  look_and_show(requests, count);
  return mpi.Testany(count, requests, index, done, status);
}

int waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
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

int testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  look_and_show(requests, count);
  return mpi.Testsome(count, requests, ended, indices, statuses);
}

int get_status(MPI_Request request, int* done, MPI_Status* status) {
  if (!any_requests()) return mpi.Request_get_status(request, done, status);
  if (CollectiveRequest* own = find_untold(&request)) {
    *done = test(*own);
    if (!*done) return MPI_SUCCESS;
    deliver(*own);
    fill_status(status);
    return MPI_SUCCESS;
  }
  look();
  return mpi.Request_get_status(request, done, status);
}

// MPI 4.1's calls about several requests leave the program's array as it is.
using GetStatusAll = int (*)(int, const MPI_Request*, int*, MPI_Status*);
using GetStatusAny = int (*)(int, const MPI_Request*, int*, int*, MPI_Status*);
using GetStatusSome = int (*)(int, const MPI_Request*, int*, int*, MPI_Status*);
GetStatusAll get_status_all_below;
GetStatusAny get_status_any_below;
GetStatusSome get_status_some_below;

void look_and_show_copies(const MPI_Request* requests, int count) {
  if (!any_requests() || !requests || count < 0) return;
  std::vector<MPI_Request> copies(requests, requests + count);
  look_and_show(copies.data(), count);
}

int get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses) {
  look_and_show_copies(requests, count);
  return get_status_all_below(count, requests, done, statuses);
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* done,
                   MPI_Status* status) {
  look_and_show_copies(requests, count);
  return get_status_any_below(count, requests, index, done, status);
}

int get_status_some(int count, const MPI_Request* requests, int* ended, int* indices,
                    MPI_Status* statuses) {
  look_and_show_copies(requests, count);
  return get_status_some_below(count, requests, ended, indices, statuses);
}

int request_free(MPI_Request* handle) {
  if (!any_requests()) return mpi.Request_free(handle);
  CollectiveRequest* own = handle ? find_request(*handle) : nullptr;
  if (!own) return mpi.Request_free(handle);
  if (own->persistent) {
    free_persistent(*own, handle);
    return MPI_SUCCESS;
  }
  return refuse(*own, family() == Family::mpich ? MPI_ERR_OTHER : MPI_ERR_REQUEST);
}

int cancel(MPI_Request* handle) {
  const bool asks = any_requests() && handle;
  CollectiveRequest* own = asks ? find_request(*handle) : nullptr;
  if (!own) return mpi.Cancel(handle);
  return refuse(*own, MPI_ERR_REQUEST);
}

}  // namespace

RequestCalls request_calls(const sumac_stub& stub) {
  const auto find = [&](auto& below, int call) {
    below = reinterpret_cast<std::remove_reference_t<decltype(below)>>(stub.below[call]);
  };
  find(get_status_all_below, SUMAC_CALL_Request_get_status_all);
  find(get_status_any_below, SUMAC_CALL_Request_get_status_any);
  find(get_status_some_below, SUMAC_CALL_Request_get_status_some);
  return {start_one,      startall,        wait,         waitall,  waitany,    waitsome,
          test_one,       testall,         testany,      testsome, get_status, get_status_all,
          get_status_any, get_status_some, request_free, cancel};
}

void redirect_requests(const sumac_stub& stub, const RequestCalls& calls) {
  const auto redirect = [&](int call, auto* function) {
    if (stub.below[call]) stub.redirect(call, reinterpret_cast<void*>(function));
  };
  redirect(SUMAC_CALL_Start, calls.start);
  redirect(SUMAC_CALL_Startall, calls.startall);
  redirect(SUMAC_CALL_Wait, calls.wait);
  redirect(SUMAC_CALL_Waitall, calls.waitall);
  redirect(SUMAC_CALL_Waitany, calls.waitany);
  redirect(SUMAC_CALL_Waitsome, calls.waitsome);
  redirect(SUMAC_CALL_Test, calls.test);
  redirect(SUMAC_CALL_Testall, calls.testall);
  redirect(SUMAC_CALL_Testany, calls.testany);
  redirect(SUMAC_CALL_Testsome, calls.testsome);
  redirect(SUMAC_CALL_Request_get_status, calls.get_status);
  redirect(SUMAC_CALL_Request_get_status_all, calls.get_status_all);
  redirect(SUMAC_CALL_Request_get_status_any, calls.get_status_any);
  redirect(SUMAC_CALL_Request_get_status_some, calls.get_status_some);
  redirect(SUMAC_CALL_Request_free, calls.request_free);
  redirect(SUMAC_CALL_Cancel, calls.cancel);
}

}  // namespace sumac

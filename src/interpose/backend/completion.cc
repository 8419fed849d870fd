// SPDX-License-Identifier: BSD-3-Clause
// The completion calls. While no request of Sumac's is held they are the MPI's; else they also look
// at what is under way, so that whatever a rank waits for, its part in collectives goes on.
#include "interpose/backend/calls.h"
#include "interpose/backend/hang_doctor.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/requests.h"

namespace sumac {
namespace {

using Phase = CollectiveRequest::Phase;

// Sumac's request, if the MPI has not been told of its end.
CollectiveRequest* find_untold(const MPI_Request* handle) {
  CollectiveRequest* request = handle ? find_request(*handle) : nullptr;
  return request && request->phase == Phase::begun ? request : nullptr;
}

// In calls that do not wait: what others have left is theirs to do.
void look() { engine().progress(true, false); }

// Before the MPI is asked about several requests.
void look_and_show(MPI_Request* requests, int count) {
  if (!any_requests() || !requests) return;
  look();
  show(requests, count);
}

// Asks the MPI by ask(done), which returns its error, until it is done or fails.
template <class Ask>
int until_done(Ask ask) {
  WaitPolicy policy;
  policy.spins = spins_of_process();
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
  }
  look();
  return mpi.Test(request, done, status);
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (!any_requests() || count < 0 || !requests) return mpi.Waitall(count, requests, statuses);
  int told = 0;
  for (int i = 0; i < count; ++i) {
    CollectiveRequest* own = find_untold(&requests[i]);
    if (!own) continue;
    wait_for(*own);
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    told += take_end(*own, &requests[i], status);
  }
  // Ended here, they count for the MPI as null or inactive, with the same status.
  if (told == count) return MPI_SUCCESS;
  if (engine().idle()) return mpi.Waitall(count, requests, statuses);
  return until_done([&](int& done) { return mpi.Testall(count, requests, &done, statuses); });
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
    if (*done) fill_status(status);
    return MPI_SUCCESS;
  }
  look();
  return mpi.Request_get_status(request, done, status);
}

// Nonblocking collectives can be neither freed nor cancelled, says the standard.
int refuse(const CollectiveRequest& request, int error) {
  mpi.Comm_call_errhandler(request.communicator->comm, error);
  return error;
}

int request_free(MPI_Request* handle) {
  if (!any_requests()) return mpi.Request_free(handle);
  CollectiveRequest* own = handle ? find_request(*handle) : nullptr;
  if (!own) return mpi.Request_free(handle);
  if (own->persistent) {
    // An active one is the program's mistake; its buffers must not be used any more.
    wait_for(*own);
    take_end(*own, handle, MPI_STATUS_IGNORE);
    free_persistent(*own);
    return mpi.Request_free(handle);
  }
  return refuse(*own, kFamily == Family::mpich ? MPI_ERR_OTHER : MPI_ERR_REQUEST);
}

int cancel(MPI_Request* handle) {
  const bool asks = any_requests() && handle;
  CollectiveRequest* own = asks ? find_request(*handle) : nullptr;
  if (!own) return mpi.Cancel(handle);
  return refuse(*own, MPI_ERR_REQUEST);
}

}  // namespace

void redirect_completion(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Wait, reinterpret_cast<void*>(wait));
  stub.redirect(SUMAC_CALL_Waitall, reinterpret_cast<void*>(waitall));
  stub.redirect(SUMAC_CALL_Waitany, reinterpret_cast<void*>(waitany));
  stub.redirect(SUMAC_CALL_Waitsome, reinterpret_cast<void*>(waitsome));
  stub.redirect(SUMAC_CALL_Test, reinterpret_cast<void*>(test_one));
  stub.redirect(SUMAC_CALL_Testall, reinterpret_cast<void*>(testall));
  stub.redirect(SUMAC_CALL_Testany, reinterpret_cast<void*>(testany));
  stub.redirect(SUMAC_CALL_Testsome, reinterpret_cast<void*>(testsome));
  stub.redirect(SUMAC_CALL_Request_get_status, reinterpret_cast<void*>(get_status));
  stub.redirect(SUMAC_CALL_Request_free, reinterpret_cast<void*>(request_free));
  stub.redirect(SUMAC_CALL_Cancel, reinterpret_cast<void*>(cancel));
}

}  // namespace sumac

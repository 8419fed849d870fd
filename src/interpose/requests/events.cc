// SPDX-License-Identifier: BSD-3-Clause
// After MPI_ERR_IN_STATUS the statuses tell which requests have ended and how; after any other
// error a request has ended if its handle is null.
#include "interpose/requests/events.h"

#include <algorithm>

#include "base/clock.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

MpiFunctions below;

// The listeners are never destroyed: requests may be completed while the process ends.
auto& listeners = *new std::vector<RequestListener*>;
bool takes_time = false;  // true if some listener takes the time

std::uint64_t now_ns() { return takes_time ? clock_ns() : 0; }

// This is one call about requests.
class Observed {
 public:
  Observed(int count, RequestPointer requests) {
    for (RequestListener* each : listeners) each->look();
    if (count <= 0 || !requests) return;
    any_ = std::any_of(listeners.begin(), listeners.end(),
                       [&](RequestListener* each) { return each->holds_any(count, requests); });
    if (!any_) return;
    event_.asked.assign(requests, requests + count);
    event_.begin_ns = now_ns();
  }

  // Returns true if a listener has to be told.
  bool any() const { return any_; }

  // Returns statuses for the call, also if the program wants none.
  StatusPointer statuses(StatusPointer given) {
    if (!given.is_ignored()) return given;
    own_.resize(event_.asked.size());
    return own_.data();
  }

  // Notes that request `index` has ended. The index is MPI_UNDEFINED if none has, and may be
  // anything after an error.
  void end(int index, StatusPointer status, bool success) {
    const auto at = static_cast<std::size_t>(index);
    if (index < 0 || at >= event_.asked.size()) return;
    event_.ends.push_back({index, event_.asked[at], status, success});
  }
  // Notes the ends after a call about all requests has returned `error`; if it is no error, `done`
  // says whether they have ended.
  void end_all(int error, bool done, RequestPointer requests, StatusPointer statuses) {
    const bool in_status = is_in_status(error);
    for (std::size_t i = 0; i < event_.asked.size(); ++i) {
      bool ended = error == kMpiSuccess ? done : requests[i] == kMpi.request_null;
      if (in_status) ended = (statuses + i).error() != kMpi.err_pending;
      const bool success = in_status ? (statuses + i).error() == kMpiSuccess : error == kMpiSuccess;
      if (ended) end(static_cast<int>(i), statuses + i, success);
    }
  }
  // Does the same after a call about some of them.
  void end_some(int error, int count, const int* indices, RequestPointer requests,
                StatusPointer statuses) {
    const bool in_status = is_in_status(error);
    if (error != kMpiSuccess && !in_status) return end_all(error, false, requests, statuses);
    if (count == kMpi.undefined) return;
    for (int k = 0; k < count; ++k) {
      end(indices[k], statuses + k, !in_status || (statuses + k).error() == kMpiSuccess);
    }
  }
  // Notes that the requests that have ended are still there; after an error nothing is known.
  void keep(int error) {
    event_.lasting = true;
    if (error != kMpiSuccess) event_.ends.clear();
  }

  int tell(int error) {
    event_.end_ns = now_ns();
    for (RequestListener* each : listeners) each->told(event_);
    return error;
  }

 private:
  static bool is_in_status(int error) {
    if (error == kMpiSuccess) return false;
    int error_class = kMpiSuccess;
    mpi.Error_class(error, &error_class);
    return error_class == kMpi.err_in_status;
  }

  bool any_ = false;
  RequestEvent event_;
  StatusArray own_;
};

// Makes a call by make(statuses). If a listener has to be told, end(observed, error, statuses) then
// says which requests have ended.
template <class Make, class End>
int observe(int count, RequestPointer requests, StatusPointer statuses, Make make, End end) {
  Observed observed(count, requests);
  if (!observed.any()) return make(statuses);
  statuses = observed.statuses(statuses);
  const int error = make(statuses);
  end(observed, error, statuses);
  return observed.tell(error);
}

int wait(RequestPointer request, StatusPointer status) {
  return observe(
      1, request, status, [&](StatusPointer own) { return below.Wait(request, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        if (error == kMpiSuccess || *request == kMpi.request_null) observed.end(0, own, !error);
      });
}

int test(RequestPointer request, int* done, StatusPointer status) {
  return observe(
      1, request, status, [&](StatusPointer own) { return below.Test(request, done, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        const bool ended = error == kMpiSuccess ? *done : *request == kMpi.request_null;
        if (ended) observed.end(0, own, !error);
      });
}

int waitall(int count, RequestPointer requests, StatusPointer statuses) {
  return observe(
      count, requests, statuses,
      [&](StatusPointer own) { return below.Waitall(count, requests, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        observed.end_all(error, true, requests, own);
      });
}

int testall(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  return observe(
      count, requests, statuses,
      [&](StatusPointer own) { return below.Testall(count, requests, done, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        observed.end_all(error, *done != 0, requests, own);
      });
}

int waitany(int count, RequestPointer requests, int* index, StatusPointer status) {
  return observe(
      count, requests, status,
      [&](StatusPointer own) { return below.Waitany(count, requests, index, own); },
      [&](Observed& observed, int error, StatusPointer own) { observed.end(*index, own, !error); });
}

int testany(int count, RequestPointer requests, int* index, int* done, StatusPointer status) {
  return observe(
      count, requests, status,
      [&](StatusPointer own) { return below.Testany(count, requests, index, done, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        if (error != kMpiSuccess || *done) observed.end(*index, own, !error);
      });
}

// This serves MPI_Waitsome and MPI_Testsome.
int some(int (*make)(int, RequestPointer, int*, int*, StatusPointer), int count,
         RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  return observe(
      count, requests, statuses,
      [&](StatusPointer own) { return make(count, requests, ended, indices, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        observed.end_some(error, *ended, indices, requests, own);
      });
}

int waitsome(int count, RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  return some(below.Waitsome, count, requests, ended, indices, statuses);
}

int testsome(int count, RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  return some(below.Testsome, count, requests, ended, indices, statuses);
}

int get_status(MpiRequest request, int* done, StatusPointer status) {
  return observe(
      1, one(request), status,
      [&](StatusPointer own) { return below.Request_get_status(request, done, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        if (error == kMpiSuccess && *done) observed.end(0, own, true);
        observed.keep(error);
      });
}

int get_status_all(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  return observe(
      count, requests, statuses,
      [&](StatusPointer own) { return below.Request_get_status_all(count, requests, done, own); },
      [&](Observed& observed, int error, StatusPointer own) {
        observed.end_all(error, *done != 0, requests, own);
        observed.keep(error);
      });
}

int get_status_any(int count, RequestPointer requests, int* index, int* done,
                   StatusPointer status) {
  return observe(
      count, requests, status,
      [&](StatusPointer own) {
        return below.Request_get_status_any(count, requests, index, done, own);
      },
      [&](Observed& observed, int error, StatusPointer own) {
        if (error == kMpiSuccess && *done) observed.end(*index, own, true);
        observed.keep(error);
      });
}

int get_status_some(int count, RequestPointer requests, int* ended, int* indices,
                    StatusPointer statuses) {
  return observe(
      count, requests, statuses,
      [&](StatusPointer own) {
        return below.Request_get_status_some(count, requests, ended, indices, own);
      },
      [&](Observed& observed, int error, StatusPointer own) {
        observed.end_some(error, *ended, indices, requests, own);
        observed.keep(error);
      });
}

template <class Make>
int start_by(Make make, int count, RequestPointer requests) {
  const std::uint64_t begin = clock_ns();
  const int error = make();
  if (error != kMpiSuccess || count <= 0 || !requests) return error;
  const std::uint64_t end = clock_ns();
  for (RequestListener* each : listeners) each->started(count, requests, begin, end);
  return error;
}

int start(RequestPointer request) {
  return start_by([&] { return below.Start(request); }, 1, request);
}

int startall(int count, RequestPointer requests) {
  return start_by([&] { return below.Startall(count, requests); }, count, requests);
}

int request_free(RequestPointer request) {
  for (RequestListener* each : listeners) {
    each->look();
    if (!request || !each->takes_freed(*request)) continue;
    request.set(kMpi.request_null);
    return kMpiSuccess;
  }
  return below.Request_free(request);
}

}  // namespace

void listen(RequestListener& listener) {
  listeners.push_back(&listener);
  takes_time |= listener.takes_time();
}

void observe_requests(MpiFunctions& calls) {
  if (listeners.empty()) return;
  below = calls;
  if (takes_time) {
    calls.Start = start;
    calls.Startall = startall;
  }
  calls.Wait = wait;
  calls.Waitall = waitall;
  calls.Waitany = waitany;
  calls.Waitsome = waitsome;
  calls.Test = test;
  calls.Testall = testall;
  calls.Testany = testany;
  calls.Testsome = testsome;
  calls.Request_get_status = get_status;
  calls.Request_get_status_all = get_status_all;
  calls.Request_get_status_any = get_status_any;
  calls.Request_get_status_some = get_status_some;
  calls.Request_free = request_free;
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// After MPI_ERR_IN_STATUS the statuses tell which requests have ended and how; after any other
// error a request has ended if its handle is null.
#include "interpose/requests/events.h"

#include <algorithm>

#include "base/clock.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {
namespace {

RequestCalls below;

// Never destroyed: requests may be completed while the process ends.
auto& listeners = *new std::vector<RequestListener*>;
bool takes_time = false;  // some listener does

std::uint64_t now_ns() { return takes_time ? clock_ns() : 0; }

// One call about requests.
class Observed {
 public:
  Observed(int count, const MPI_Request* requests) {
    for (RequestListener* each : listeners) each->look();
    if (count <= 0 || !requests) return;
    any_ = std::any_of(listeners.begin(), listeners.end(),
                       [&](RequestListener* each) { return each->holds_any(count, requests); });
    if (!any_) return;
    event_.asked.assign(requests, requests + count);
    event_.begin_ns = now_ns();
  }

  // True where somebody is to be told.
  bool any() const { return any_; }

  // Statuses for the call, also where the program wants none.
  MPI_Status* statuses(MPI_Status* given) {
    if (given != MPI_STATUS_IGNORE && given != MPI_STATUSES_IGNORE) return given;
    own_.resize(event_.asked.size());
    return own_.data();
  }

  // Request `index` has ended. It is MPI_UNDEFINED where none has, and after an error anything.
  void end(int index, const MPI_Status& status, bool success) {
    const auto at = static_cast<std::size_t>(index);
    if (index < 0 || at >= event_.asked.size()) return;
    event_.ends.push_back({index, event_.asked[at], &status, success});
  }
  // A call about all requests has returned `error`, and without one said whether they are `done`.
  void end_all(int error, bool done, const MPI_Request* requests, const MPI_Status* statuses) {
    const bool in_status = is_in_status(error);
    for (std::size_t i = 0; i < event_.asked.size(); ++i) {
      bool ended = error == MPI_SUCCESS ? done : requests[i] == MPI_REQUEST_NULL;
      if (in_status) ended = statuses[i].MPI_ERROR != MPI_ERR_PENDING;
      const bool success = in_status ? statuses[i].MPI_ERROR == MPI_SUCCESS : error == MPI_SUCCESS;
      if (ended) end(static_cast<int>(i), statuses[i], success);
    }
  }
  // A call about some of them has.
  void end_some(int error, int count, const int* indices, const MPI_Request* requests,
                const MPI_Status* statuses) {
    const bool in_status = is_in_status(error);
    if (error != MPI_SUCCESS && !in_status) return end_all(error, false, requests, statuses);
    if (count == MPI_UNDEFINED) return;
    for (int k = 0; k < count; ++k) {
      end(indices[k], statuses[k], !in_status || statuses[k].MPI_ERROR == MPI_SUCCESS);
    }
  }
  // The ended ones are still there; after an error nothing is known.
  void keep(int error) {
    event_.lasting = true;
    if (error != MPI_SUCCESS) event_.ends.clear();
  }

  int tell(int error) {
    event_.end_ns = now_ns();
    for (RequestListener* each : listeners) each->told(event_);
    return error;
  }

 private:
  static bool is_in_status(int error) {
    if (error == MPI_SUCCESS) return false;
    int error_class = MPI_SUCCESS;
    mpi.Error_class(error, &error_class);
    return error_class == MPI_ERR_IN_STATUS;
  }

  bool any_ = false;
  RequestEvent event_;
  std::vector<MPI_Status> own_;
};

// Makes a call by make(statuses). Where somebody is to be told, end(observed, error, statuses) then
// says which requests have ended.
template <class Make, class End>
int observe(int count, const MPI_Request* requests, MPI_Status* statuses, Make make, End end) {
  Observed observed(count, requests);
  if (!observed.any()) return make(statuses);
  statuses = observed.statuses(statuses);
  const int error = make(statuses);
  end(observed, error, statuses);
  return observed.tell(error);
}

int wait(MPI_Request* request, MPI_Status* status) {
  return observe(
      1, request, status, [&](MPI_Status* own) { return below.wait(request, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        if (error == MPI_SUCCESS || *request == MPI_REQUEST_NULL) observed.end(0, *own, !error);
      });
}

int test(MPI_Request* request, int* done, MPI_Status* status) {
  return observe(
      1, request, status, [&](MPI_Status* own) { return below.test(request, done, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        const bool ended = error == MPI_SUCCESS ? *done : *request == MPI_REQUEST_NULL;
        if (ended) observed.end(0, *own, !error);
      });
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  return observe(
      count, requests, statuses,
      [&](MPI_Status* own) { return below.waitall(count, requests, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        observed.end_all(error, true, requests, own);
      });
}

int testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  return observe(
      count, requests, statuses,
      [&](MPI_Status* own) { return below.testall(count, requests, done, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        observed.end_all(error, *done != 0, requests, own);
      });
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return observe(
      count, requests, status,
      [&](MPI_Status* own) { return below.waitany(count, requests, index, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        observed.end(*index, *own, !error);
      });
}

int testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  return observe(
      count, requests, status,
      [&](MPI_Status* own) { return below.testany(count, requests, index, done, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        if (error != MPI_SUCCESS || *done) observed.end(*index, *own, !error);
      });
}

// MPI_Waitsome and MPI_Testsome.
int some(int (*make)(int, MPI_Request*, int*, int*, MPI_Status*), int count, MPI_Request* requests,
         int* ended, int* indices, MPI_Status* statuses) {
  return observe(
      count, requests, statuses,
      [&](MPI_Status* own) { return make(count, requests, ended, indices, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        observed.end_some(error, *ended, indices, requests, own);
      });
}

int waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  return some(below.waitsome, count, requests, ended, indices, statuses);
}

int testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  return some(below.testsome, count, requests, ended, indices, statuses);
}

int get_status(MPI_Request request, int* done, MPI_Status* status) {
  return observe(
      1, &request, status, [&](MPI_Status* own) { return below.get_status(request, done, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        if (error == MPI_SUCCESS && *done) observed.end(0, *own, true);
        observed.keep(error);
      });
}

int get_status_all(int count, const MPI_Request* requests, int* done, MPI_Status* statuses) {
  return observe(
      count, requests, statuses,
      [&](MPI_Status* own) { return below.get_status_all(count, requests, done, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        observed.end_all(error, *done != 0, requests, own);
        observed.keep(error);
      });
}

int get_status_any(int count, const MPI_Request* requests, int* index, int* done,
                   MPI_Status* status) {
  return observe(
      count, requests, status,
      [&](MPI_Status* own) { return below.get_status_any(count, requests, index, done, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        if (error == MPI_SUCCESS && *done) observed.end(*index, *own, true);
        observed.keep(error);
      });
}

int get_status_some(int count, const MPI_Request* requests, int* ended, int* indices,
                    MPI_Status* statuses) {
  return observe(
      count, requests, statuses,
      [&](MPI_Status* own) { return below.get_status_some(count, requests, ended, indices, own); },
      [&](Observed& observed, int error, const MPI_Status* own) {
        observed.end_some(error, *ended, indices, requests, own);
        observed.keep(error);
      });
}

template <class Make>
int start_by(Make make, int count, MPI_Request* requests) {
  const std::uint64_t begin = clock_ns();
  const int error = make();
  if (error != MPI_SUCCESS || count <= 0 || !requests) return error;
  const std::uint64_t end = clock_ns();
  for (RequestListener* each : listeners) each->started(count, requests, begin, end);
  return error;
}

int start(MPI_Request* request) {
  return start_by([&] { return below.start(request); }, 1, request);
}

int startall(int count, MPI_Request* requests) {
  return start_by([&] { return below.startall(count, requests); }, count, requests);
}

int request_free(MPI_Request* request) {
  for (RequestListener* each : listeners) {
    each->look();
    if (!request || !each->takes_freed(*request)) continue;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return below.request_free(request);
}

}  // namespace

void listen(RequestListener& listener) {
  listeners.push_back(&listener);
  takes_time |= listener.takes_time();
}

RequestCalls observed_request_calls(const RequestCalls& calls) {
  if (listeners.empty()) return calls;
  below = calls;
  return {.start = takes_time ? start : calls.start,
          .startall = takes_time ? startall : calls.startall,
          .wait = wait,
          .waitall = waitall,
          .waitany = waitany,
          .waitsome = waitsome,
          .test = test,
          .testall = testall,
          .testany = testany,
          .testsome = testsome,
          .get_status = get_status,
          .get_status_all = get_status_all,
          .get_status_any = get_status_any,
          .get_status_some = get_status_some,
          .request_free = request_free,
          .cancel = calls.cancel};
}

}  // namespace sumac

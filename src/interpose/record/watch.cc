// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/record/watch.h"

#include "base/clock.h"
#include "interpose/process/process.h"
#include "interpose/record/watched_requests.h"

namespace sumac {
namespace {

std::vector<CallWatcher*>& watchers() {
  static auto* all = new std::vector<CallWatcher*>;
  return *all;
}

RequestCalls below;

template <class Tell>
void tell_all(Tell tell) {
  for (CallWatcher* watcher : watchers()) tell(*watcher);
}

// What a completion call may end.
class Completion {
 public:
  Completion(const MPI_Request* requests, int count) {
    if (watched_requests().any() && requests && count > 0) {
      active_ = watched_requests().active(requests, count);
    }
    if (!active_.empty()) times_.begin = clock_ns();
  }
  bool is_watched() const { return !active_.empty(); }

  // `ended(index)`: true where the call has ended the request at this place of its array.
  template <class Ended>
  void tell(Ended ended) {
    times_.end = clock_ns();
    std::vector<RequestNumber> numbers;
    for (const ActiveRequest& request : active_) {
      if (ended(request.index) && watched_requests().complete(request)) {
        numbers.push_back(request.number);
      }
    }
    if (numbers.empty()) return;
    tell_all([&](CallWatcher& watcher) { watcher.completed(numbers, times_); });
  }

 private:
  std::vector<ActiveRequest> active_;
  CallTimes times_;
};

bool all_ended(int) { return true; }

int start(MPI_Request* request) {
  const CallTimes before{clock_ns()};
  const int error = below.start(request);
  if (error != MPI_SUCCESS || !request) return error;
  const std::vector<RequestNumber> numbers = watched_requests().restart(request, 1);
  if (numbers.empty()) return error;
  const CallTimes times{before.begin, clock_ns()};
  tell_all([&](CallWatcher& watcher) { watcher.restarted(numbers, times); });
  return error;
}

int startall(int count, MPI_Request* requests) {
  const CallTimes before{clock_ns()};
  const int error = below.startall(count, requests);
  if (error != MPI_SUCCESS || !requests || count <= 0) return error;
  const std::vector<RequestNumber> numbers = watched_requests().restart(requests, count);
  if (numbers.empty()) return error;
  const CallTimes times{before.begin, clock_ns()};
  tell_all([&](CallWatcher& watcher) { watcher.restarted(numbers, times); });
  return error;
}

int wait(MPI_Request* request, MPI_Status* status) {
  Completion completion(request, 1);
  const int error = below.wait(request, status);
  if (completion.is_watched() && error == MPI_SUCCESS) completion.tell(all_ended);
  return error;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Completion completion(requests, count);
  const int error = below.waitall(count, requests, statuses);
  if (completion.is_watched() && error == MPI_SUCCESS) completion.tell(all_ended);
  return error;
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Completion completion(requests, count);
  const int error = below.waitany(count, requests, index, status);
  if (!completion.is_watched() || error != MPI_SUCCESS) return error;
  completion.tell([&](int i) { return i == *index; });
  return error;
}

// True where `index` is one of those that a call has returned.
bool is_among(int index, int count, const int* indices) {
  for (int i = 0; i < count; ++i) {
    if (indices[i] == index) return true;
  }
  return false;
}

int waitsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  Completion completion(requests, count);
  const int error = below.waitsome(count, requests, ended, indices, statuses);
  if (!completion.is_watched() || error != MPI_SUCCESS) return error;
  completion.tell([&](int i) { return is_among(i, *ended, indices); });
  return error;
}

int test(MPI_Request* request, int* done, MPI_Status* status) {
  Completion completion(request, 1);
  const int error = below.test(request, done, status);
  if (completion.is_watched() && error == MPI_SUCCESS && *done) completion.tell(all_ended);
  return error;
}

int testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  Completion completion(requests, count);
  const int error = below.testall(count, requests, done, statuses);
  if (completion.is_watched() && error == MPI_SUCCESS && *done) completion.tell(all_ended);
  return error;
}

int testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  Completion completion(requests, count);
  const int error = below.testany(count, requests, index, done, status);
  if (!completion.is_watched() || error != MPI_SUCCESS || !*done) return error;
  completion.tell([&](int i) { return i == *index; });
  return error;
}

int testsome(int count, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  Completion completion(requests, count);
  const int error = below.testsome(count, requests, ended, indices, statuses);
  if (!completion.is_watched() || error != MPI_SUCCESS) return error;
  completion.tell([&](int i) { return is_among(i, *ended, indices); });
  return error;
}

int request_free(MPI_Request* request) {
  const MPI_Request before = request ? *request : MPI_REQUEST_NULL;
  const int error = below.request_free(request);
  RequestNumber number = 0;
  if (error != MPI_SUCCESS || !watched_requests().forget(before, number)) return error;
  tell_all([&](CallWatcher& watcher) { watcher.freed(number); });
  return error;
}

}  // namespace

void watch_calls(CallWatcher& watcher) { watchers().push_back(&watcher); }

bool calls_are_watched() { return !watchers().empty(); }

int serve_watched(const Call& call, int (*serve)(const Call&)) {
  if (thread_state().inside && called_from_within()) return serve(call);
  CallTimes times{clock_ns()};
  const int error = serve(call);
  if (error != MPI_SUCCESS) return error;
  times.end = clock_ns();
  if (!call.is_deferred()) {
    tell_all([&](CallWatcher& watcher) { watcher.blocking(call, times); });
    return error;
  }
  const RequestNumber number =
      watched_requests().add(*call.request, call.kind.form == Form::persistent);
  tell_all([&](CallWatcher& watcher) { watcher.deferred(call, number, times); });
  return error;
}

RequestCalls watched_request_calls(const RequestCalls& calls) {
  below = calls;
  RequestCalls own = calls;
  own.start = start;
  own.startall = startall;
  own.wait = wait;
  own.waitall = waitall;
  own.waitany = waitany;
  own.waitsome = waitsome;
  own.test = test;
  own.testall = testall;
  own.testany = testany;
  own.testsome = testsome;
  own.request_free = request_free;
  return own;
}

}  // namespace sumac

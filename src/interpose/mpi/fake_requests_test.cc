// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/fake_requests_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sumac {
namespace {

// These parts of a status are the MPI's own.
constexpr std::size_t kBytesAt = 16, kCancelledAt = 20;

void put(StatusPointer status, std::size_t at, int value) {
  std::memcpy(static_cast<std::byte*>(status.address()) + at, &value, sizeof value);
}
int get(StatusPointer status, std::size_t at) {
  int value = 0;
  std::memcpy(&value, static_cast<std::byte*>(status.address()) + at, sizeof value);
  return value;
}

void fill(StatusPointer status, int source, int tag, int bytes, bool cancelled) {
  if (status.is_ignored()) return;
  status.set_source(source);
  status.set_tag(tag);
  put(status, kBytesAt, bytes);
  put(status, kCancelledAt, cancelled);
}

}  // namespace

int bytes_in(StatusPointer status) { return get(status, kBytesAt); }
bool is_cancelled(StatusPointer status) { return get(status, kCancelledAt) != 0; }

MpiRequest FakeRequests::add(const FakeRequest& request) {
  all_.push_back(request);
  live_.push_back(true);
  return {all_.size()};
}

bool FakeRequests::is_live(MpiRequest handle) const {
  return handle.bits - 1 < live_.size() && live_[handle.bits - 1];
}

FakeRequest& FakeRequests::at(MpiRequest handle) {
  if (!is_live(handle)) {
    ADD_FAILURE() << "the MPI is asked about request " << handle.bits << ", which has ended";
    std::abort();
  }
  return all_[handle.bits - 1];
}

int FakeRequests::live() const {
  return static_cast<int>(std::count(live_.begin(), live_.end(), true));
}

// These are the MPI's functions.
struct FakeCalls {
  static FakeRequests& own() { return fake_requests; }
  static bool is_idle(MpiRequest handle) {
    return handle == kMpi.request_null || !own().at(handle).active;
  }
  // Polls an active request. Returns true if it has ended.
  static bool poll(MpiRequest handle) {
    FakeRequest& request = own().at(handle);
    if (request.polls > 0 && request.polls != FakeRequest::kNever) --request.polls;
    return request.polls == 0;
  }
  static void release(MpiRequest handle) {
    const FakeRequest request = own().at(handle);
    own().live_[handle.bits - 1] = false;
    if (request.generalized) request.generalized->free(request.state);
  }
  // Tells of a request that has ended. Returns its error.
  static int tell(MpiRequest handle, StatusPointer status) {
    const FakeRequest& request = own().at(handle);
    if (request.generalized) {
      MpiStatus own_status;
      request.generalized->query(request.state,
                                 status.is_ignored() ? own_status.pointer() : status);
      return kMpiSuccess;
    }
    fill(status, request.source, request.tag, request.bytes, request.cancelled);
    return request.error;
  }
  static int end(RequestPointer place, StatusPointer status) {
    const MpiRequest handle = *place;
    const int error = tell(handle, status);
    if (own().at(handle).persistent) {
      own().at(handle).active = false;
    } else {
      place.set(kMpi.request_null);
      release(handle);
    }
    return error;
  }
  static void fill_empty(StatusPointer status) {
    fill(status, kMpi.any_source, kMpi.any_tag, 0, false);
  }

  static int test(RequestPointer request, int* done, StatusPointer status) {
    *done = is_idle(*request) || poll(*request);
    if (is_idle(*request)) return fill_empty(status), kMpiSuccess;
    return *done ? end(request, status) : kMpiSuccess;
  }
  // Nothing but polls goes on in a wait, so a request that needs more is waited for in vain.
  template <class Done>
  static void until(Done done) {
    for (int i = 0; !done(); ++i) {
      if (i < 100000) continue;
      ADD_FAILURE() << "this waits for ever";
      std::abort();
    }
  }
  static int wait(RequestPointer request, StatusPointer status) {
    int done = 0, error = kMpiSuccess;
    until([&] {
      error = test(request, &done, status);
      return done != 0;
    });
    return error;
  }

  // Ends those that have ended, in a call about all; the others have MPI_ERR_PENDING.
  static int end_all(int count, RequestPointer requests, StatusPointer statuses) {
    bool failed = false;
    for (int i = 0; i < count; ++i) failed |= is_failed(requests[i]);
    for (int i = 0; i < count; ++i) {
      const StatusPointer status = status_at(statuses, i);
      int error = kMpiSuccess;
      if (is_idle(requests[i])) {
        fill_empty(status);
      } else if (own().at(requests[i]).polls == 0) {
        error = end(requests + i, status);
      } else {
        error = kMpi.err_pending;
      }
      if (failed && !status.is_ignored()) status.set_error(error);
    }
    return failed ? kMpi.err_in_status : kMpiSuccess;
  }
  static bool is_failed(MpiRequest handle) {
    return !is_idle(handle) && own().at(handle).polls == 0 && own().at(handle).error;
  }
  static bool poll_all(int count, RequestPointer requests, bool* failed) {
    bool ended = true;
    for (int i = 0; i < count; ++i) {
      if (is_idle(requests[i])) continue;
      ended &= poll(requests[i]);
      *failed |= is_failed(requests[i]);
    }
    return ended;
  }
  // The MPI may return as soon as one has failed.
  static int waitall(int count, RequestPointer requests, StatusPointer statuses) {
    const bool hurries = own().random_() % 2 == 0;
    until([&] {
      bool failed = false;
      return poll_all(count, requests, &failed) || (failed && hurries);
    });
    return end_all(count, requests, statuses);
  }
  static int testall(int count, RequestPointer requests, int* done, StatusPointer statuses) {
    bool failed = false;
    *done = poll_all(count, requests, &failed);
    return *done ? end_all(count, requests, statuses) : kMpiSuccess;
  }

  // Calls about any request look from a place that is drawn.
  template <class End>
  static int find_any(int count, RequestPointer requests, int* index, int* done,
                      StatusPointer status, End end_one) {
    *index = kMpi.undefined;
    *done = 1;
    const int first =
        count > 0 ? static_cast<int>(own().random_() % static_cast<unsigned>(count)) : 0;
    for (int k = 0; k < count; ++k) {
      const int i = (first + k) % count;
      if (is_idle(requests[i])) continue;
      *done = poll(requests[i]);
      if (!*done) continue;
      *index = i;
      return end_one(requests + i, status);
    }
    for (int i = 0; i < count; ++i) *done &= is_idle(requests[i]);
    if (*done) fill_empty(status);
    return kMpiSuccess;
  }
  static int testany(int count, RequestPointer requests, int* index, int* done,
                     StatusPointer status) {
    return find_any(count, requests, index, done, status, end);
  }
  static int waitany(int count, RequestPointer requests, int* index, StatusPointer status) {
    int done = 0, error = kMpiSuccess;
    until([&] {
      error = testany(count, requests, index, &done, status);
      return done != 0;
    });
    return error;
  }
  template <class End>
  static int find_some(int count, RequestPointer requests, int* ended, int* indices,
                       StatusPointer statuses, End end_one) {
    bool any = false, failed = false;
    *ended = 0;
    std::vector<int> errors;
    for (int i = 0; i < count; ++i) {
      if (is_idle(requests[i])) continue;
      any = true;
      if (!poll(requests[i])) continue;
      errors.push_back(end_one(requests + i, status_at(statuses, *ended)));
      failed |= errors.back() != kMpiSuccess;
      indices[(*ended)++] = i;
    }
    for (std::size_t k = 0; k < errors.size() && failed && !statuses.is_ignored(); ++k) {
      (statuses + static_cast<std::ptrdiff_t>(k)).set_error(errors[k]);
    }
    if (!any) *ended = kMpi.undefined;
    return failed ? kMpi.err_in_status : kMpiSuccess;
  }
  static int testsome(int count, RequestPointer requests, int* ended, int* indices,
                      StatusPointer statuses) {
    return find_some(count, requests, ended, indices, statuses, end);
  }
  static int waitsome(int count, RequestPointer requests, int* ended, int* indices,
                      StatusPointer statuses) {
    int error = kMpiSuccess;
    until([&] {
      error = testsome(count, requests, ended, indices, statuses);
      return *ended != 0;
    });
    return error;
  }

  static int look(MpiRequest request, int* done, StatusPointer status) {
    *done = is_idle(request) || poll(request);
    if (is_idle(request)) return fill_empty(status), kMpiSuccess;
    if (*done) tell(request, status);
    return kMpiSuccess;
  }
  static int look_all(int count, RequestPointer requests, int* done, StatusPointer statuses) {
    bool failed = false;
    *done = poll_all(count, requests, &failed);
    int one = 0;
    for (int i = 0; i < count && *done; ++i) look(requests[i], &one, status_at(statuses, i));
    return kMpiSuccess;
  }
  static int tell_place(RequestPointer place, StatusPointer status) {
    return tell(*place, status), kMpiSuccess;
  }
  static int look_any(int count, RequestPointer requests, int* index, int* done,
                      StatusPointer status) {
    return find_any(count, requests, index, done, status, tell_place);
  }
  static int look_some(int count, RequestPointer requests, int* ended, int* indices,
                       StatusPointer statuses) {
    return find_some(count, requests, ended, indices, statuses, tell_place);
  }

  static int start(RequestPointer request) {
    FakeRequest& started = own().at(*request);
    EXPECT_TRUE(started.persistent && !started.active);
    started.active = true;
    if (started.begins) started.begins();
    return kMpiSuccess;
  }
  static int startall(int count, RequestPointer requests) {
    for (int i = 0; i < count; ++i) start(requests + i);
    return kMpiSuccess;
  }
  static int free(RequestPointer request) {
    FakeRequest& freed = own().at(*request);
    const bool goes_on = freed.active && freed.polls == FakeRequest::kNever;
    freed.freed = goes_on;
    if (!goes_on) release(*request);
    request.set(kMpi.request_null);
    return kMpiSuccess;
  }
  static int cancel(RequestPointer request) {
    FakeRequest& asked = own().at(*request);
    if (asked.generalized) return asked.generalized->cancel(asked.state, asked.polls == 0);
    if (asked.polls == 0) return kMpiSuccess;
    asked.cancelled = true;
    asked.polls = 0;
    asked.bytes = 0;
    return kMpiSuccess;
  }
  static int complete(MpiRequest request) {
    FakeRequest ended = own().at(request);
    EXPECT_TRUE(ended.generalized && ended.polls != 0);
    ended.polls = 0;
    own().end(request, ended);
    return kMpiSuccess;
  }
};

void FakeRequests::end(MpiRequest handle, const FakeRequest& how) {
  FakeRequest& ended = at(handle);
  const bool freed = ended.freed;
  ended = how;
  if (freed) FakeCalls::release(handle);
}

int start_generalized(const GeneralizedCalls& calls, void* state, RequestPointer request) {
  static GeneralizedCalls kept;
  kept = calls;
  FakeRequest made;
  made.generalized = &kept;
  made.state = state;
  request.set(fake_requests.add(made));
  return kMpiSuccess;
}

namespace {

StatusArray statuses;
std::vector<int> indices;

Answers ask_about_all(const MpiFunctions& calls, Ask ask, int count, RequestPointer requests) {
  const StatusPointer first = statuses.data();
  Answers answers;
  int done = 1;
  const bool one = asks_one(ask);
  if (ask == Ask::wait) answers.error = calls.Wait(requests, first);
  if (ask == Ask::waitall) answers.error = calls.Waitall(count, requests, first);
  if (ask == Ask::test) answers.error = calls.Test(requests, &done, first);
  if (ask == Ask::testall) answers.error = calls.Testall(count, requests, &done, first);
  if (ask == Ask::look) answers.error = calls.Request_get_status(*requests, &done, first);
  if (ask == Ask::look_all) {
    answers.error = calls.Request_get_status_all(count, requests, &done, first);
  }
  answers.done = done != 0;
  const bool in_status = !one && answers.error == kMpi.err_in_status;
  for (int i = 0; i < (one ? 1 : count) && done; ++i) {
    const int error = in_status ? (first + i).error() : answers.error;
    if (error != kMpi.err_pending) answers.told.push_back({i, error, first + i});
  }
  return answers;
}

Answers ask_about_any(const MpiFunctions& calls, Ask ask, int count, RequestPointer requests) {
  const StatusPointer first = statuses.data();
  Answers answers;
  int done = 1, index = kMpi.undefined;
  if (ask == Ask::waitany) answers.error = calls.Waitany(count, requests, &index, first);
  if (ask == Ask::testany) answers.error = calls.Testany(count, requests, &index, &done, first);
  if (ask == Ask::look_any) {
    answers.error = calls.Request_get_status_any(count, requests, &index, &done, first);
  }
  answers.done = done != 0;
  answers.no_active = done && index == kMpi.undefined;
  if (done && !answers.no_active) answers.told.push_back({index, answers.error, first});
  return answers;
}

Answers ask_about_some(const MpiFunctions& calls, Ask ask, int count, RequestPointer requests) {
  const StatusPointer first = statuses.data();
  Answers answers;
  int ended = 0;
  int* const at = indices.data();
  if (ask == Ask::waitsome) answers.error = calls.Waitsome(count, requests, &ended, at, first);
  if (ask == Ask::testsome) answers.error = calls.Testsome(count, requests, &ended, at, first);
  if (ask == Ask::look_some) {
    answers.error = calls.Request_get_status_some(count, requests, &ended, at, first);
  }
  answers.done = ended != 0;
  answers.no_active = ended == kMpi.undefined;
  const bool in_status = answers.error == kMpi.err_in_status;
  for (int k = 0; k < ended; ++k) {
    const StatusPointer status = first + k;
    answers.told.push_back({at[k], in_status ? status.error() : answers.error, status});
  }
  return answers;
}

}  // namespace

Answers ask_about(const MpiFunctions& calls, Ask ask, const HandleArray<MpiRequest>& requests) {
  const int count = static_cast<int>(requests.size());
  statuses.resize(requests.size());
  indices.resize(requests.size());
  switch (static_cast<int>(ask) % 4) {
    case 2:
      return ask_about_any(calls, ask, count, requests.data());
    case 3:
      return ask_about_some(calls, ask, count, requests.data());
    default:
      return ask_about_all(calls, ask, count, requests.data());
  }
}

void FakeRequests::begin(unsigned seed, MpiFunctions& calls) {
  all_.clear();
  live_.clear();
  random_.seed(seed + 1);
  calls.Test = FakeCalls::test;
  calls.Testall = FakeCalls::testall;
  calls.Testany = FakeCalls::testany;
  calls.Testsome = FakeCalls::testsome;
  calls.Wait = FakeCalls::wait;
  calls.Waitall = FakeCalls::waitall;
  calls.Waitany = FakeCalls::waitany;
  calls.Waitsome = FakeCalls::waitsome;
  calls.Request_get_status = FakeCalls::look;
  calls.Request_get_status_all = FakeCalls::look_all;
  calls.Request_get_status_any = FakeCalls::look_any;
  calls.Request_get_status_some = FakeCalls::look_some;
  calls.Start = FakeCalls::start;
  calls.Startall = FakeCalls::startall;
  calls.Request_free = FakeCalls::free;
  calls.Cancel = FakeCalls::cancel;
  calls.Grequest_complete = FakeCalls::complete;
  calls.Error_class = [](int error, int* its_class) { return *its_class = error, kMpiSuccess; };
  calls.Test_cancelled = [](StatusPointer status, int* cancelled) {
    return *cancelled = is_cancelled(status), kMpiSuccess;
  };
  calls.Get_count = [](StatusPointer status, MpiDatatype type, int* count) {
    EXPECT_TRUE(type == kMpi.packed || type == kMpi.byte);
    return *count = bytes_in(status), kMpiSuccess;
  };
  calls.Status_set_elements = [](StatusPointer status, MpiDatatype, int count) {
    return put(status, kBytesAt, count), kMpiSuccess;
  };
  calls.Status_set_cancelled = [](StatusPointer status, int cancelled) {
    return put(status, kCancelledAt, cancelled), kMpiSuccess;
  };
}

}  // namespace sumac

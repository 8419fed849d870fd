// SPDX-License-Identifier: BSD-3-Clause
// The tests check who is told what, for every call about requests and every way in which it can
// end. The MPI below is this file. The constants are those of the standard's binary interface,
// which need no library.
#include "interpose/requests/events.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/requests/held_requests.h"

namespace sumac {

MpiFunctions mpi;

namespace {

const int kOtherError = 1000 + kMpi.err_other, kInStatus = 1000 + kMpi.err_in_status;

int error_class(int error, int* its_class) {
  *its_class = error >= 1000 ? error - 1000 : error;
  return kMpiSuccess;
}

// The MPI does this in the next call: it returns the error, and ends these requests, each with an
// error of its own. A persistent request keeps its handle.
struct Script {
  int error = kMpiSuccess;
  std::map<int, int> ends = {};
  std::set<std::uintptr_t> persistent = {};
} script;

void end(RequestPointer request) {
  if (!script.persistent.contains((*request).bits)) request.set(kMpi.request_null);
}

int make_one(RequestPointer request, int* done, StatusPointer) {
  if (done) *done = !script.ends.empty();
  if (!script.ends.empty()) end(request);
  return script.error;
}

int make_all(int count, RequestPointer requests, int* done, StatusPointer statuses) {
  EXPECT_NE(statuses, statuses_ignore());
  if (done) *done = static_cast<int>(script.ends.size()) == count;
  for (int i = 0; i < count; ++i) {
    const auto found = script.ends.find(i);
    (statuses + i).set_error(found == script.ends.end() ? kMpi.err_pending : found->second);
    if (found != script.ends.end()) end(requests + i);
  }
  return script.error;
}

int make_any(int count, RequestPointer requests, int* index, int* done, StatusPointer) {
  const bool none = script.ends.empty();
  *index = none ? kMpi.undefined : script.ends.begin()->first;
  if (done) *done = !none;
  if (!none && *index < count) end(requests + *index);
  return script.error;
}

int make_some(int, RequestPointer requests, int* ended, int* indices, StatusPointer statuses) {
  *ended = 0;
  for (const auto& [index, error] : script.ends) {
    (statuses + *ended).set_error(error);
    indices[(*ended)++] = index;
    end(requests + index);
  }
  return script.error;
}

void set_below(MpiFunctions& calls) {
  calls.Start = [](RequestPointer) { return script.error; };
  calls.Startall = [](int, RequestPointer) { return script.error; };
  calls.Wait = [](RequestPointer r, StatusPointer s) { return make_one(r, nullptr, s); };
  calls.Waitall = [](int n, RequestPointer r, StatusPointer s) {
    return make_all(n, r, nullptr, s);
  };
  calls.Waitany = [](int n, RequestPointer r, int* i, StatusPointer s) {
    return make_any(n, r, i, nullptr, s);
  };
  calls.Waitsome = make_some;
  calls.Test = make_one;
  calls.Testall = make_all;
  calls.Testany = make_any;
  calls.Testsome = make_some;
  calls.Request_get_status = [](MpiRequest, int* done, StatusPointer) {
    *done = !script.ends.empty();
    return script.error;
  };
  calls.Request_get_status_all = [](int n, RequestPointer r, int* done, StatusPointer s) {
    HandleArray<MpiRequest> copies;
    copies.assign(r, static_cast<std::size_t>(n));
    return make_all(n, copies.data(), done, s);
  };
  calls.Request_get_status_any = [](int n, RequestPointer r, int* index, int* done,
                                    StatusPointer s) {
    HandleArray<MpiRequest> copies;
    copies.assign(r, static_cast<std::size_t>(n));
    return make_any(n, copies.data(), index, done, s);
  };
  calls.Request_get_status_some = [](int n, RequestPointer r, int* ended, int* indices,
                                     StatusPointer s) {
    HandleArray<MpiRequest> copies;
    copies.assign(r, static_cast<std::size_t>(n));
    return make_some(n, copies.data(), ended, indices, s);
  };
  calls.Request_free = [](RequestPointer r) { return r.set(kMpi.request_null), script.error; };
  calls.Cancel = [](RequestPointer) { return script.error; };
}

// The holders of requests have been told this since the last begin().
struct Noted {
  int times = 0;  // how often a call took time
  int seen = 0;
  std::map<std::uintptr_t, bool> ends;  // requests that have ended, and true if with success
  std::vector<std::uintptr_t> starting, started;
  std::set<std::uintptr_t> alive;  // requests that have a holder
} noted;

class Holder final : public RequestHolder {
 public:
  explicit Holder(std::uintptr_t request, bool frees_later = false)
      : request_(request), frees_later_(frees_later) {
    noted.alive.insert(request_);
  }
  ~Holder() override { noted.alive.erase(request_); }
  void starts() override { noted.starting.push_back(request_); }
  void started(const CallTime& time, std::uint64_t share_ns, bool) override {
    EXPECT_LE(share_ns, time.end_ns - time.begin_ns);
    noted.started.push_back(request_);
  }
  void took(std::uint64_t ns) override {
    EXPECT_LE(ns, UINT64_MAX / 2) << "the call ends before it begins";
    ++noted.times;
  }
  void seen(StatusPointer status) override {
    EXPECT_FALSE(status.is_ignored());
    ++noted.seen;
  }
  void ended(StatusPointer status, bool success, std::uint64_t) override {
    EXPECT_FALSE(status.is_ignored());
    EXPECT_TRUE(noted.ends.emplace(request_, success).second);
  }
  bool freed(bool) override { return frees_later_; }
  void left() override { noted.ends.emplace(request_, false); }

 private:
  const std::uintptr_t request_;
  const bool frees_later_;
};

void hold_for_test(std::uintptr_t request, bool persistent = false) {
  hold({request}, std::make_unique<Holder>(request), persistent);
}

using Ends = std::map<std::uintptr_t, bool>;

class Events : public testing::Test {
 protected:
  void SetUp() override {
    mpi.Error_class = error_class;
    set_below(mpi);
    serve_requests(nullptr, calls);
    begin({});
  }
  void TearDown() override { leave_held(); }
  // Requests 11 to 13 are held, and are under way.
  void begin(const Script& next) {
    leave_held();
    script = {};
    fill({11, 12, 13});
    for (const std::uintptr_t each : {11, 12, 13}) {
      hold_for_test(each, next.persistent.contains(each));
    }
    calls.Startall(count(), requests.data());
    script = next;
    noted.times = noted.seen = 0;
    noted.ends.clear();
    noted.starting.clear();
    noted.started.clear();
  }
  void fill(const std::vector<std::uintptr_t>& handles) {
    requests.resize(0);
    for (const std::uintptr_t each : handles) requests.push_back({each});
  }
  int count() const { return static_cast<int>(requests.size()); }

  MpiFunctions calls;
  HandleArray<MpiRequest> requests;
  int done = 0, index = 0, indices[3] = {};
};

TEST_F(Events, NobodyIsToldOfARequestThatIsNotHeld) {
  fill({21});
  script.ends = {{0, kMpiSuccess}};
  MpiStatus status;
  EXPECT_EQ(calls.Wait(requests.data(), status.pointer()), kMpiSuccess);
  EXPECT_EQ(noted.times, 0);
}

TEST_F(Events, WaitAndTest) {
  EXPECT_EQ(calls.Test(requests.data(), &done, status_ignore()), kMpiSuccess);
  EXPECT_EQ(noted.times, 1);
  EXPECT_EQ(noted.ends, Ends());
  begin({.ends = {{0, kMpiSuccess}}});
  calls.Test(requests.data(), &done, status_ignore());
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  begin({.ends = {{0, kMpiSuccess}}, .persistent = {11}});
  calls.Wait(requests.data(), status_ignore());
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  begin({.error = kOtherError, .ends = {{0, kMpiSuccess}}});
  EXPECT_EQ(calls.Wait(requests.data(), status_ignore()), kOtherError);
  EXPECT_EQ(noted.ends, (Ends{{11, false}}));
  begin({.error = kOtherError});  // the call was wrong, and the request goes on
  calls.Wait(requests.data(), status_ignore());
  EXPECT_EQ(noted.ends, Ends());
}

TEST_F(Events, AllEndOrNone) {
  const std::map<int, int> all{{0, kMpiSuccess}, {1, kMpiSuccess}, {2, kMpiSuccess}};
  begin({.ends = all, .persistent = {12}});
  calls.Waitall(count(), requests.data(), statuses_ignore());
  EXPECT_EQ(noted.ends, (Ends{{11, true}, {12, true}, {13, true}}));
  begin({.ends = {{1, kMpiSuccess}}});
  calls.Testall(count(), requests.data(), &done, statuses_ignore());
  EXPECT_EQ(noted.ends, Ends());
}

// The handle of a persistent request stays, so it says nothing: the statuses do.
TEST_F(Events, ErrorsAreInTheStatuses) {
  const std::map<int, int> some{{0, kMpiSuccess}, {1, kMpi.err_truncate}};
  for (const bool waits : {true, false}) {
    begin({.error = kInStatus, .ends = some, .persistent = {11, 12, 13}});
    if (waits) {
      EXPECT_EQ(calls.Waitall(count(), requests.data(), statuses_ignore()), kInStatus);
    } else {
      EXPECT_EQ(calls.Testall(count(), requests.data(), &done, statuses_ignore()), kInStatus);
    }
    EXPECT_EQ(noted.ends, (Ends{{11, true}, {12, false}}));
  }
  begin({.error = kInStatus, .ends = some});
  int ended = 0;
  StatusArray statuses;
  statuses.resize(3);
  EXPECT_EQ(calls.Waitsome(count(), requests.data(), &ended, indices, statuses.data()), kInStatus);
  EXPECT_EQ(noted.ends, (Ends{{11, true}, {12, false}}));
}

TEST_F(Events, AnyAndSome) {
  MpiStatus status;
  StatusArray statuses;
  statuses.resize(3);
  calls.Testany(count(), requests.data(), &index, &done, status.pointer());
  EXPECT_EQ(noted.ends, Ends());
  begin({.ends = {{2, kMpiSuccess}}});
  calls.Waitany(count(), requests.data(), &index, status.pointer());
  EXPECT_EQ(noted.ends, (Ends{{13, true}}));
  begin({.error = kOtherError, .ends = {{2, kMpiSuccess}}});
  calls.Waitany(count(), requests.data(), &index, status.pointer());
  EXPECT_EQ(noted.ends, (Ends{{13, false}}));
  begin({.ends = {{0, kMpiSuccess}, {2, kMpiSuccess}}});
  int ended = 0;
  calls.Testsome(count(), requests.data(), &ended, indices, statuses.data());
  EXPECT_EQ(noted.ends, (Ends{{11, true}, {13, true}}));
  begin({.error = kOtherError, .ends = {{1, kMpiSuccess}}});  // its handle alone shows the end
  calls.Waitsome(count(), requests.data(), &ended, indices, statuses.data());
  EXPECT_EQ(noted.ends, (Ends{{12, false}}));
  begin({.error = kOtherError, .ends = {{1'000'000, kMpiSuccess}}});  // no request has the index
  calls.Waitany(count(), requests.data(), &index, status.pointer());
  EXPECT_EQ(noted.ends, Ends());
}

TEST_F(Events, RequestsAreOnlyLookedAt) {
  StatusArray statuses;
  statuses.resize(3);
  const std::map<int, int> all{{0, kMpiSuccess}, {1, kMpiSuccess}, {2, kMpiSuccess}};
  begin({.ends = all});
  calls.Request_get_status({11}, &done, status_ignore());
  EXPECT_EQ(noted.seen, 1);
  begin({.ends = all});
  calls.Request_get_status_all(count(), requests.data(), &done, statuses.data());
  EXPECT_EQ(noted.seen, 3);
  begin({.error = kOtherError, .ends = all});
  calls.Request_get_status_all(count(), requests.data(), &done, statuses.data());
  EXPECT_EQ(noted.seen, 0);
  begin({.ends = {{1, kMpiSuccess}}});
  calls.Request_get_status_any(count(), requests.data(), &index, &done, statuses.data());
  EXPECT_EQ(noted.seen, 1);
  int ended = 0;
  calls.Request_get_status_some(count(), requests.data(), &ended, indices, statuses.data());
  EXPECT_EQ(noted.seen, 2);
  EXPECT_EQ(noted.times, 0);
  EXPECT_EQ(noted.alive.size(), 3u);
  calls.Wait(requests.data() + 1, status_ignore());
  EXPECT_EQ(noted.alive, (std::set<std::uintptr_t>{11, 13}));
}

TEST_F(Events, PersistentRequestsAreToldAtEachStart) {
  begin({.persistent = {11, 12}});
  for (int round = 0; round < 3; ++round) {
    script.ends = {{0, kMpiSuccess}};
    noted.ends.clear();
    calls.Wait(requests.data(), status_ignore());
    EXPECT_EQ(noted.ends, (Ends{{11, true}}));
    noted.ends.clear();
    calls.Wait(requests.data(), status_ignore());  // it is inactive
    EXPECT_EQ(noted.ends, Ends());
    noted.starting.clear();
    noted.started.clear();
    script = {.error = kOtherError, .persistent = {11, 12}};
    calls.Start(requests.data());
    EXPECT_EQ(noted.starting.size(), 1u);
    EXPECT_TRUE(noted.started.empty());
    script.error = kMpiSuccess;
    calls.Startall(count(), requests.data());
    EXPECT_EQ(noted.started, (std::vector<std::uintptr_t>{11, 12}));
  }
}

// Before the call returns that has ended a request, another thread starts an operation, and the
// MPI gives it the handle.
TEST_F(Events, AHandleMayBeAnothersBeforeTheCallReturns) {
  for (const bool was_held : {true, false}) {
    begin({.ends = {{0, kMpiSuccess}}});
    if (!was_held) forget_held({11});
    static std::set<std::uintptr_t> held_meanwhile;
    mpi.Wait = [](RequestPointer request, StatusPointer status) {
      held_meanwhile = noted.alive;
      const int error = make_one(request, nullptr, status);
      hold_for_test(11);
      return error;
    };
    calls.Wait(requests.data(), status_ignore());
    EXPECT_EQ(held_meanwhile.contains(11), was_held);
    EXPECT_EQ(noted.ends, was_held ? (Ends{{11, true}}) : Ends());
    // The new operation is told of its own end, and of no other.
    set_below(mpi);
    fill({11, 12, 13});
    noted.ends.clear();
    script.ends = {};
    calls.Test(requests.data(), &done, status_ignore());
    EXPECT_EQ(noted.ends, Ends());
    script.ends = {{0, kMpiSuccess}};
    calls.Test(requests.data(), &done, status_ignore());
    EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  }
}

// The call of another thread that has ended request 11 is about to return; this one asks about a
// request that has the same handle by now, and is not held.
TEST_F(Events, AHandleIsNotTakenForOneThatAnotherThreadAsksAbout) {
  begin({.ends = {{0, kMpiSuccess}}});
  mpi.Wait = [](RequestPointer request, StatusPointer status) {
    std::thread([] {
      MpiFunctions in_thread;
      serve_requests(nullptr, in_thread);
      MpiRequest same{11};
      int ended = 0;
      in_thread.Test(one(same), &ended, status_ignore());
      EXPECT_TRUE(ended);
      EXPECT_EQ(noted.ends, Ends());
    }).join();
    return make_one(request, nullptr, status);
  };
  calls.Wait(requests.data(), status_ignore());
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
}

// An error handler may jump out of a call. The requests that have not ended are still held.
TEST_F(Events, ACallThatIsLeftByAnExceptionLosesNothing) {
  mpi.Wait = [](RequestPointer, StatusPointer) -> int { throw 1; };
  EXPECT_THROW(calls.Wait(requests.data(), status_ignore()), int);
  set_below(mpi);
  script.ends = {{0, kMpiSuccess}};
  calls.Wait(requests.data(), status_ignore());
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
}

TEST_F(Events, ARequestMayBeFreedAfterACallThatAnotherThreadHasLeft) {
  hold({14}, std::make_unique<Holder>(14, true), false);
  requests.set(0, {14});
  mpi.Wait = [](RequestPointer, StatusPointer) -> int { throw 1; };
  std::thread([&] { EXPECT_THROW(calls.Wait(requests.data(), status_ignore()), int); }).join();
  set_below(mpi);
  calls.Request_free(requests.data());
  wait_for_freed();
  EXPECT_TRUE(noted.ends.contains(14));
}

// A call that Sumac does not see has ended a request, and its handle has come back.
TEST_F(Events, ANewRequestWithTheSameHandleTakesTheOldOnesPlace) {
  hold_for_test(11);
  EXPECT_EQ(noted.ends, (Ends{{11, false}}));
  noted.ends.clear();
  script.ends = {{0, kMpiSuccess}};
  calls.Wait(requests.data(), status_ignore());
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
}

TEST_F(Events, TheHolderClosestToTheMpiIsToldFirst) {
  static std::vector<int> told;
  class Numbered final : public RequestHolder {
   public:
    explicit Numbered(int number) : number_(number) {}
    void ended(StatusPointer, bool, std::uint64_t) override { told.push_back(number_); }

   private:
    const int number_;
  };
  told.clear();
  const std::uint64_t holds = holds_of_thread();
  hold({14}, std::make_unique<Numbered>(1), false);
  EXPECT_EQ(holds_of_thread(), holds + 1);
  hold_too({14}, std::make_unique<Numbered>(2));
  EXPECT_EQ(holds_of_thread(), holds + 1);
  requests.set(0, {14});
  script.ends = {{0, kMpiSuccess}};
  calls.Wait(requests.data(), status_ignore());
  EXPECT_EQ(told, (std::vector<int>{1, 2}));
}

TEST_F(Events, AnOperationThatHasEndedAtOnceIsNotHeld) {
  hold_unless_ended({14}, std::make_unique<Holder>(14));
  EXPECT_TRUE(noted.alive.contains(14));
  script.ends = {{0, kMpiSuccess}};
  hold_unless_ended({15}, std::make_unique<Holder>(15));
  EXPECT_EQ(noted.ends, (Ends{{15, true}}));
  EXPECT_FALSE(noted.alive.contains(15));
}

TEST_F(Events, AFreedRequestIsForgottenOrEndsLater) {
  calls.Request_free(requests.data());
  EXPECT_EQ(requests[0], kMpi.request_null);
  EXPECT_FALSE(noted.alive.contains(11));
  for (const bool at_the_end : {false, true}) {
    noted.ends.clear();
    hold({14}, std::make_unique<Holder>(14, true), false);
    script = {};
    requests.set(0, {14});
    mpi.Request_free = [](RequestPointer) {
      return ADD_FAILURE() << "it has not ended", kOtherError;
    };
    EXPECT_EQ(calls.Request_free(requests.data()), kMpiSuccess);
    EXPECT_EQ(requests[0], kMpi.request_null);
    calls.Test(requests.data() + 1, &done, status_ignore());
    EXPECT_TRUE(noted.alive.contains(14));
    script.ends = {{0, kMpiSuccess}};
    if (at_the_end) {
      wait_for_freed();
    } else {
      calls.Test(requests.data() + 2, &done, status_ignore());
    }
    EXPECT_TRUE(noted.ends.contains(14));
    EXPECT_FALSE(noted.alive.contains(14));
  }
}

TEST_F(Events, WhatHasNotEndedIsLeftAtTheEnd) {
  begin({.ends = {{0, kMpiSuccess}}, .persistent = {11, 12}});
  calls.Wait(requests.data(), status_ignore());
  noted.ends.clear();
  leave_held();
  EXPECT_EQ(noted.ends, (Ends{{12, false}, {13, false}}));
  EXPECT_TRUE(noted.alive.empty());
}

}  // namespace
}  // namespace sumac

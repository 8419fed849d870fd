// SPDX-License-Identifier: BSD-3-Clause
// The tests check who is told what, for every call about requests and every way in which it can
// end. The MPI below is this file. The constants are those of the standard's binary interface,
// which need no library.
#include "interpose/requests/events.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "interpose/mpi/mpi_functions.h"

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

int make_one(RequestPointer request, int* done, StatusPointer status) {
  EXPECT_NE(status, status_ignore());
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

class Noted final : public RequestListener {
 public:
  bool takes_time() const override { return true; }
  bool holds_any(int count, RequestPointer requests) override {
    return std::any_of(requests, requests + count,
                       [&](MpiRequest r) { return held.contains(r.bits); });
  }
  void told(const RequestEvent& event) override {
    ++times;
    lasting = event.lasting;
    EXPECT_LE(event.begin_ns, event.end_ns);
    for (const RequestEnd& each : event.ends) {
      EXPECT_EQ(each.request, event.asked[static_cast<std::size_t>(each.index)]);
      ends.emplace(each.request.bits, each.success);
    }
  }
  void started(int count, RequestPointer requests, std::uint64_t, std::uint64_t) override {
    starts.assign(requests, static_cast<std::size_t>(count));
  }
  bool takes_freed(MpiRequest request) override { return held.contains(request.bits); }

  std::set<std::uintptr_t> held;
  int times = 0;
  bool lasting = false;
  std::map<std::uintptr_t, bool> ends;  // requests that have ended, and true if with success
  HandleArray<MpiRequest> starts;
};

Noted noted;
using Ends = std::map<std::uintptr_t, bool>;

class Events : public testing::Test {
 protected:
  void SetUp() override {
    mpi.Error_class = error_class;
    set_below(mpi);
    static const MpiFunctions kObserved = [] {
      MpiFunctions made;
      listen(noted);
      serve_requests(nullptr, made);
      return made;
    }();
    calls = kObserved;
    noted.held = {11, 12, 13};
    begin({});
  }
  void begin(const Script& next) {
    script = next;
    noted.times = 0;
    noted.lasting = false;
    noted.ends.clear();
    fill({11, 12, 13});
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

TEST_F(Events, ARequestThatNobodyHoldsIsNotTold) {
  fill({21});
  script.ends = {{0, kMpiSuccess}};
  MpiStatus status;
  EXPECT_EQ(calls.Wait(requests.data(), status.pointer()), kMpiSuccess);
  EXPECT_EQ(noted.times, 0);
}

TEST_F(Events, WaitAndTest) {
  EXPECT_EQ(calls.Test(requests.data(), &done, status_ignore()), kMpiSuccess);
  EXPECT_EQ(noted.times, 1);  // told for the time that the call took
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
  EXPECT_TRUE(noted.lasting);
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  begin({.ends = all});
  calls.Request_get_status_all(count(), requests.data(), &done, statuses.data());
  EXPECT_TRUE(noted.lasting);
  EXPECT_EQ(noted.ends.size(), 3u);
  begin({.error = kOtherError, .ends = all});
  calls.Request_get_status_all(count(), requests.data(), &done, statuses.data());
  EXPECT_EQ(noted.ends, Ends());
  begin({.ends = {{1, kMpiSuccess}}});
  calls.Request_get_status_any(count(), requests.data(), &index, &done, statuses.data());
  EXPECT_EQ(noted.ends, (Ends{{12, true}}));
  int ended = 0;
  begin({.ends = {{1, kMpiSuccess}}});
  calls.Request_get_status_some(count(), requests.data(), &ended, indices, statuses.data());
  EXPECT_EQ(noted.ends, (Ends{{12, true}}));
}

TEST_F(Events, StartsAndFrees) {
  calls.Startall(count(), requests.data());
  ASSERT_EQ(noted.starts.size(), requests.size());
  EXPECT_EQ(noted.starts[2], requests[2]);
  noted.starts.resize(0);
  begin({.error = kOtherError});
  calls.Start(requests.data());
  EXPECT_TRUE(noted.starts.empty());
  begin({});
  calls.Request_free(requests.data());
  EXPECT_EQ(requests[0], kMpi.request_null);
}

}  // namespace
}  // namespace sumac

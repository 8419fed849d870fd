// SPDX-License-Identifier: BSD-3-Clause
// Who is told what, for every call about requests and every way in which it can end. The MPI below
// is this file. Compiled against MPICH's header, whose handles and constants need no library.
#include "interpose/requests/events.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

MpiFunctions mpi;

namespace {

constexpr int kOtherError = 1000 + MPI_ERR_OTHER, kInStatus = 1000 + MPI_ERR_IN_STATUS;

int error_class(int error, int* its_class) {
  *its_class = error >= 1000 ? error - 1000 : error;
  return MPI_SUCCESS;
}

// What the MPI does in the next call: its error, the requests that end, with an error of their own,
// and the others' errors. A persistent request keeps its handle.
struct Script {
  int error = MPI_SUCCESS;
  std::map<int, int> ends = {};
  std::set<MPI_Request> persistent = {};
} script;

void end(MPI_Request* request) {
  if (!script.persistent.contains(*request)) *request = MPI_REQUEST_NULL;
}

int make_one(MPI_Request* request, int* done, MPI_Status* status) {
  EXPECT_NE(status, MPI_STATUS_IGNORE);
  if (done) *done = !script.ends.empty();
  if (!script.ends.empty()) end(request);
  return script.error;
}

int make_all(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  EXPECT_NE(statuses, MPI_STATUSES_IGNORE);
  if (done) *done = static_cast<int>(script.ends.size()) == count;
  for (int i = 0; i < count; ++i) {
    const auto found = script.ends.find(i);
    statuses[i].MPI_ERROR = found == script.ends.end() ? MPI_ERR_PENDING : found->second;
    if (found != script.ends.end()) end(&requests[i]);
  }
  return script.error;
}

int make_any(int count, MPI_Request* requests, int* index, int* done, MPI_Status*) {
  const bool none = script.ends.empty();
  *index = none ? MPI_UNDEFINED : script.ends.begin()->first;
  if (done) *done = !none;
  if (!none && *index < count) end(&requests[*index]);
  return script.error;
}

int make_some(int, MPI_Request* requests, int* ended, int* indices, MPI_Status* statuses) {
  *ended = 0;
  for (const auto& [index, error] : script.ends) {
    statuses[*ended].MPI_ERROR = error;
    indices[(*ended)++] = index;
    end(&requests[index]);
  }
  return script.error;
}

const RequestCalls kBelow{
    .start = [](MPI_Request*) { return script.error; },
    .startall = [](int, MPI_Request*) { return script.error; },
    .wait = [](MPI_Request* r, MPI_Status* s) { return make_one(r, nullptr, s); },
    .waitall = [](int n, MPI_Request* r, MPI_Status* s) { return make_all(n, r, nullptr, s); },
    .waitany = [](int n, MPI_Request* r, int* i,
                  MPI_Status* s) { return make_any(n, r, i, nullptr, s); },
    .waitsome = make_some,
    .test = make_one,
    .testall = make_all,
    .testany = make_any,
    .testsome = make_some,
    .get_status =
        [](MPI_Request, int* done, MPI_Status*) {
          *done = !script.ends.empty();
          return script.error;
        },
    .get_status_all =
        [](int n, const MPI_Request* r, int* done, MPI_Status* s) {
          std::vector<MPI_Request> copies(r, r + n);
          return make_all(n, copies.data(), done, s);
        },
    .get_status_any =
        [](int n, const MPI_Request* r, int* index, int* done, MPI_Status* s) {
          std::vector<MPI_Request> copies(r, r + n);
          return make_any(n, copies.data(), index, done, s);
        },
    .get_status_some =
        [](int n, const MPI_Request* r, int* ended, int* indices, MPI_Status* s) {
          std::vector<MPI_Request> copies(r, r + n);
          return make_some(n, copies.data(), ended, indices, s);
        },
    .request_free = [](MPI_Request* r) { return *r = MPI_REQUEST_NULL, script.error; },
    .cancel = [](MPI_Request*) { return script.error; },
};

class Noted final : public RequestListener {
 public:
  bool takes_time() const override { return true; }
  bool holds_any(int count, const MPI_Request* requests) override {
    return std::any_of(requests, requests + count, [&](MPI_Request r) { return held.contains(r); });
  }
  void told(const RequestEvent& event) override {
    ++times;
    lasting = event.lasting;
    EXPECT_LE(event.begin_ns, event.end_ns);
    for (const RequestEnd& each : event.ends) {
      EXPECT_EQ(each.request, event.asked[static_cast<std::size_t>(each.index)]);
      ends.emplace(each.request, each.success);
    }
  }
  void started(int count, const MPI_Request* requests, std::uint64_t, std::uint64_t) override {
    starts.assign(requests, requests + count);
  }
  bool takes_freed(MPI_Request request) override { return held.contains(request); }

  std::set<MPI_Request> held;
  int times = 0;
  bool lasting = false;
  std::map<MPI_Request, bool> ends;  // and whether with success
  std::vector<MPI_Request> starts;
};

Noted noted;
using Ends = std::map<MPI_Request, bool>;

class Events : public testing::Test {
 protected:
  void SetUp() override {
    mpi.Error_class = error_class;
    static const RequestCalls kObserved = [] {
      listen(noted);
      return observed_request_calls(kBelow);
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
    requests = {11, 12, 13};
  }
  int count() const { return static_cast<int>(requests.size()); }

  RequestCalls calls{};
  std::vector<MPI_Request> requests;
  int done = 0, index = 0, indices[3] = {};
};

TEST_F(Events, ARequestThatNobodyHoldsIsNotTold) {
  requests = {21};
  script.ends = {{0, MPI_SUCCESS}};
  MPI_Status status;
  EXPECT_EQ(calls.wait(requests.data(), &status), MPI_SUCCESS);
  EXPECT_EQ(noted.times, 0);
}

TEST_F(Events, WaitAndTest) {
  EXPECT_EQ(calls.test(requests.data(), &done, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(noted.times, 1);  // for the time that it took
  EXPECT_EQ(noted.ends, Ends());
  begin({.ends = {{0, MPI_SUCCESS}}});
  calls.test(requests.data(), &done, MPI_STATUS_IGNORE);
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  begin({.ends = {{0, MPI_SUCCESS}}, .persistent = {11}});
  calls.wait(requests.data(), MPI_STATUS_IGNORE);
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  begin({.error = kOtherError, .ends = {{0, MPI_SUCCESS}}});
  EXPECT_EQ(calls.wait(requests.data(), MPI_STATUS_IGNORE), kOtherError);
  EXPECT_EQ(noted.ends, (Ends{{11, false}}));
  begin({.error = kOtherError});  // the call was wrong, and the request goes on
  calls.wait(requests.data(), MPI_STATUS_IGNORE);
  EXPECT_EQ(noted.ends, Ends());
}

TEST_F(Events, AllEndOrNone) {
  const std::map<int, int> all{{0, MPI_SUCCESS}, {1, MPI_SUCCESS}, {2, MPI_SUCCESS}};
  begin({.ends = all, .persistent = {12}});
  calls.waitall(count(), requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_EQ(noted.ends, (Ends{{11, true}, {12, true}, {13, true}}));
  begin({.ends = {{1, MPI_SUCCESS}}});
  calls.testall(count(), requests.data(), &done, MPI_STATUSES_IGNORE);
  EXPECT_EQ(noted.ends, Ends());
}

// Of a persistent request the handle stays, so that it says nothing: the statuses do.
TEST_F(Events, ErrorsAreInTheStatuses) {
  const std::map<int, int> some{{0, MPI_SUCCESS}, {1, MPI_ERR_TRUNCATE}};
  for (const bool waits : {true, false}) {
    begin({.error = kInStatus, .ends = some, .persistent = {11, 12, 13}});
    if (waits) {
      EXPECT_EQ(calls.waitall(count(), requests.data(), MPI_STATUSES_IGNORE), kInStatus);
    } else {
      EXPECT_EQ(calls.testall(count(), requests.data(), &done, MPI_STATUSES_IGNORE), kInStatus);
    }
    EXPECT_EQ(noted.ends, (Ends{{11, true}, {12, false}}));
  }
  begin({.error = kInStatus, .ends = some});
  int ended = 0;
  MPI_Status statuses[3];
  EXPECT_EQ(calls.waitsome(count(), requests.data(), &ended, indices, statuses), kInStatus);
  EXPECT_EQ(noted.ends, (Ends{{11, true}, {12, false}}));
}

TEST_F(Events, AnyAndSome) {
  MPI_Status status, statuses[3];
  calls.testany(count(), requests.data(), &index, &done, &status);
  EXPECT_EQ(noted.ends, Ends());
  begin({.ends = {{2, MPI_SUCCESS}}});
  calls.waitany(count(), requests.data(), &index, &status);
  EXPECT_EQ(noted.ends, (Ends{{13, true}}));
  begin({.error = kOtherError, .ends = {{2, MPI_SUCCESS}}});
  calls.waitany(count(), requests.data(), &index, &status);
  EXPECT_EQ(noted.ends, (Ends{{13, false}}));
  begin({.ends = {{0, MPI_SUCCESS}, {2, MPI_SUCCESS}}});
  int ended = 0;
  calls.testsome(count(), requests.data(), &ended, indices, statuses);
  EXPECT_EQ(noted.ends, (Ends{{11, true}, {13, true}}));
  begin({.error = kOtherError, .ends = {{1, MPI_SUCCESS}}});  // known by its handle alone
  calls.waitsome(count(), requests.data(), &ended, indices, statuses);
  EXPECT_EQ(noted.ends, (Ends{{12, false}}));
  begin({.error = kOtherError, .ends = {{1'000'000, MPI_SUCCESS}}});  // no index of a request
  calls.waitany(count(), requests.data(), &index, &status);
  EXPECT_EQ(noted.ends, Ends());
}

TEST_F(Events, RequestsAreOnlyLookedAt) {
  MPI_Status statuses[3];
  const std::map<int, int> all{{0, MPI_SUCCESS}, {1, MPI_SUCCESS}, {2, MPI_SUCCESS}};
  begin({.ends = all});
  calls.get_status(11, &done, MPI_STATUS_IGNORE);
  EXPECT_TRUE(noted.lasting);
  EXPECT_EQ(noted.ends, (Ends{{11, true}}));
  begin({.ends = all});
  calls.get_status_all(count(), requests.data(), &done, statuses);
  EXPECT_TRUE(noted.lasting);
  EXPECT_EQ(noted.ends.size(), 3u);
  begin({.error = kOtherError, .ends = all});
  calls.get_status_all(count(), requests.data(), &done, statuses);
  EXPECT_EQ(noted.ends, Ends());
  begin({.ends = {{1, MPI_SUCCESS}}});
  calls.get_status_any(count(), requests.data(), &index, &done, statuses);
  EXPECT_EQ(noted.ends, (Ends{{12, true}}));
  int ended = 0;
  begin({.ends = {{1, MPI_SUCCESS}}});
  calls.get_status_some(count(), requests.data(), &ended, indices, statuses);
  EXPECT_EQ(noted.ends, (Ends{{12, true}}));
}

TEST_F(Events, StartsAndFrees) {
  calls.startall(count(), requests.data());
  EXPECT_EQ(noted.starts, requests);
  noted.starts.clear();
  begin({.error = kOtherError});
  calls.start(requests.data());
  EXPECT_TRUE(noted.starts.empty());
  begin({});
  calls.request_free(requests.data());
  EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
}

}  // namespace
}  // namespace sumac

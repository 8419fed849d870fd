// SPDX-License-Identifier: BSD-3-Clause
// The tests check how calls about requests are made while some requests are the server's and others
// the MPI's, for every mixture of them. The MPI below and the server are this file. Each request
// ends after a number of polls of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "interpose/requests/events.h"

namespace sumac {

namespace {

using Which = RequestCall::Which;
using How = RequestCall::How;
using Answer = RequestServer::Answer;

constexpr std::uintptr_t kOwn = 1 << 20;  // the server's requests have handles from here on
bool is_own(MpiRequest request) { return request.bits >= kOwn; }

std::vector<std::string> made;             // the calls that the MPI was asked to make
std::map<std::uintptr_t, int> polls_left;  // polls until the MPI's request has ended
std::map<std::uintptr_t, int> errors;      // errors of the MPI's requests

bool has_ended(MpiRequest request) { return --polls_left[request.bits] < 0; }

// Ends a request of the MPI's, and returns its error.
int end(RequestPointer request) {
  const auto found = errors.find((*request).bits);
  request.set(kMpi.request_null);
  return found == errors.end() ? kMpiSuccess : found->second;
}

// Each of the MPI's calls about several requests takes null requests for ended ones. The MPI may
// not be asked about a request that only the server knows.
bool is_mpis(MpiRequest request) {
  EXPECT_FALSE(is_own(request));
  return request != kMpi.request_null;
}

int wait_mpi(RequestPointer request, StatusPointer) {
  made.emplace_back("Wait");
  return *request == kMpi.request_null ? kMpiSuccess : end(request);
}

int test_mpi(RequestPointer request, int* done, StatusPointer) {
  made.emplace_back("Test");
  *done = !is_mpis(*request) || has_ended(*request);
  return *done && *request != kMpi.request_null ? end(request) : kMpiSuccess;
}

int waitall_mpi(int count, RequestPointer requests, StatusPointer statuses) {
  made.emplace_back("Waitall");
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    const int error = is_mpis(requests[i]) ? end(requests + i) : kMpiSuccess;
    failed |= error != kMpiSuccess;
    if (!statuses.is_ignored()) (statuses + i).set_error(error);
  }
  return failed ? kMpi.err_in_status : kMpiSuccess;
}

int testany_mpi(int count, RequestPointer requests, int* index, int* done, StatusPointer) {
  made.emplace_back("Testany");
  *done = 0;
  *index = kMpi.undefined;
  bool any = false;
  for (int i = 0; i < count && !*done; ++i) {
    if (requests[i] == kMpi.request_null) continue;
    any = true;
    if (!has_ended(requests[i])) continue;
    *done = 1;
    *index = i;
    end(requests + i);
  }
  if (!any) *done = 1;
  return kMpiSuccess;
}

int testsome_mpi(int count, RequestPointer requests, int* ended, int* indices, StatusPointer) {
  made.emplace_back("Testsome");
  *ended = 0;
  bool any = false;
  for (int i = 0; i < count; ++i) {
    if (requests[i] == kMpi.request_null) continue;
    any = true;
    if (!has_ended(requests[i])) continue;
    indices[(*ended)++] = i;
    end(requests + i);
  }
  if (!any) *ended = kMpi.undefined;
  return kMpiSuccess;
}

// The server's requests end after some polls, too, each of which advances all of them. Once shown,
// a request is the MPI's.
class Server final : public RequestServer {
 public:
  bool has_requests() const override { return !under_way.empty() || always; }
  bool is_busy() const override { return busy; }
  bool advance(bool waits) override {
    ++advanced;
    waited |= waits;
    for (auto& [bits, polls] : under_way) --polls;
    return false;
  }
  WaitPolicy wait_policy() const override { return {}; }
  Answer answer(RequestPointer request, StatusPointer status, How how) override {
    const auto found = under_way.find((*request).bits);
    if (found == under_way.end()) return Answer::not_own;
    if (how != How::wait && found->second > 0) return Answer::under_way;
    if (is_carried) {
      show(request, 1);
      return Answer::shown;
    }
    if (!status.is_ignored()) status.set_source(kMpi.any_source);
    ++told;
    if (how == How::look) return Answer::ended;
    under_way.erase(found);
    request.set(kMpi.request_null);
    return Answer::ended;
  }
  // A request that has ended is the MPI's from now on, which ends it at the next poll.
  void show(RequestPointer requests, int count) override {
    shown = requests.address();
    for (int i = 0; i < count; ++i) {
      const auto found = under_way.find(requests[i].bits);
      if (found != under_way.end()) polls_left[found->first] = found->second;
    }
  }
  std::optional<int> start(RequestPointer) override { return std::nullopt; }
  std::optional<int> free(RequestPointer) override { return std::nullopt; }
  std::optional<int> cancel(RequestPointer) override { return std::nullopt; }

  std::map<std::uintptr_t, int> under_way;  // polls that are left, by handle
  bool always = false, busy = false, is_carried = false, waited = false;
  int advanced = 0, told = 0;
  void* shown = nullptr;
};

class Completion : public testing::Test {
 protected:
  Completion() {
    mpi.Error_class = [](int error, int* its_class) { return *its_class = error, kMpiSuccess; };
    mpi.Wait = wait_mpi;
    mpi.Test = test_mpi;
    mpi.Waitall = waitall_mpi;
    mpi.Testany = testany_mpi;
    mpi.Testsome = testsome_mpi;
    statuses.resize(kCount);
  }

  // Makes requests: those whose bit is set in `own` are the server's. Request i ends after
  // polls * i polls.
  void fill(unsigned own, int polls) {
    server = Server();
    made.clear();
    polls_left.clear();
    errors.clear();
    requests.resize(0);
    for (unsigned i = 0; i < kCount; ++i) {
      const bool its = own >> i & 1;
      const std::uintptr_t bits = its ? kOwn + i : 1 + i;
      requests.push_back({bits});
      const int left = polls * static_cast<int>(i);
      if (its) {
        server.under_way[bits] = left;
      } else {
        polls_left[bits] = left;
      }
    }
  }
  bool was_made(const char* call) const {
    return std::find(made.begin(), made.end(), call) != made.end();
  }
  int count_null() const {
    int nulls = 0;
    for (std::size_t i = 0; i < kCount; ++i) nulls += requests[i] == kMpi.request_null;
    return nulls;
  }

  static constexpr int kCount = 3;
  Server server;
  HandleArray<MpiRequest> requests;
  StatusArray statuses;
};

TEST_F(Completion, WithoutRequestsOfTheServersTheMpiIsAskedAlone) {
  fill(0, 0);
  EXPECT_EQ(complete(&server, {Which::one, How::wait, 1, requests.data(), status_ignore()}),
            kMpiSuccess);
  EXPECT_EQ(complete(nullptr, {Which::all, How::wait, kCount, requests.data(), statuses.data()}),
            kMpiSuccess);
  EXPECT_EQ(made, (std::vector<std::string>{"Wait", "Waitall"}));
  EXPECT_EQ(server.advanced, 0);
}

TEST_F(Completion, WaitallEndsEveryMixture) {
  for (const unsigned own : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
    for (const bool busy : {false, true}) {
      for (const int polls : {0, 1, 7}) {
        fill(own, polls);
        server.always = true;
        server.busy = busy;
        const int error =
            complete(&server, {Which::all, How::wait, kCount, requests.data(), statuses.data()});
        EXPECT_EQ(error, kMpiSuccess);
        EXPECT_EQ(count_null(), kCount);
        EXPECT_EQ(server.told, std::popcount(own));
        // While something is under way, the rank must not block in the MPI.
        EXPECT_FALSE(busy && (was_made("Waitall") || was_made("Wait"))) << own;
        EXPECT_EQ(server.waited, busy && own != 7) << own;
      }
    }
  }
}

TEST_F(Completion, AnErrorOfTheMpisIsInItsStatusAlone) {
  for (const bool busy : {false, true}) {
    fill(0b101, 1);
    server.busy = busy;
    errors[2] = kMpi.err_truncate;
    for (int i = 0; i < kCount; ++i) (statuses.data() + i).set_error(-1);
    EXPECT_EQ(complete(&server, {Which::all, How::wait, kCount, requests.data(), statuses.data()}),
              kMpi.err_in_status);
    EXPECT_EQ(statuses.data().error(), kMpiSuccess);
    EXPECT_EQ((statuses.data() + 1).error(), kMpi.err_truncate);
    EXPECT_EQ((statuses.data() + 2).error(), kMpiSuccess);
  }
}

TEST_F(Completion, AWaitForOneAdvancesWhatIsUnderWay) {
  for (const bool busy : {false, true}) {
    fill(0, 7);
    server.always = true;
    server.busy = busy;
    complete(&server, {Which::one, How::wait, 1, requests.data() + 2, status_ignore()});
    EXPECT_EQ(requests[2], kMpi.request_null);
    EXPECT_EQ(was_made("Wait"), !busy);
    EXPECT_EQ(server.advanced > 0, busy);
  }
  fill(1, 7);
  complete(&server, {Which::one, How::wait, 1, requests.data(), status_ignore()});
  EXPECT_TRUE(made.empty());  // a request of the server's needs no call of the MPI
}

TEST_F(Completion, ARequestThatTheMpiKnowsOfIsWaitedForThere) {
  fill(1, 0);
  server.is_carried = true;
  int done = 0;
  for (const How how : {How::wait, How::test}) {
    made.clear();
    complete(&server, {Which::one, how, 1, requests.data(), status_ignore(), &done});
    EXPECT_EQ(made, std::vector<std::string>{"Wait"});
    EXPECT_TRUE(done);
    fill(1, 0);
    server.is_carried = true;
  }
}

TEST_F(Completion, TestsDoNotWait) {
  fill(0b100, 2);
  int done = 1;
  complete(&server, {Which::one, How::test, 1, requests.data() + 2, status_ignore(), &done});
  EXPECT_FALSE(done);
  EXPECT_NE(requests[2], kMpi.request_null);
  int index = 0;
  mpi.Testany = [](int, RequestPointer, int* at, int* its_done, StatusPointer) {
    *its_done = 0;
    *at = kMpi.undefined;
    return kMpiSuccess;
  };
  complete(&server,
           {Which::any, How::test, kCount, requests.data(), status_ignore(), &done, &index});
  EXPECT_FALSE(done);
  EXPECT_EQ(server.advanced, 1);
  EXPECT_FALSE(server.waited);
  EXPECT_EQ(server.shown, requests.data().address());
}

TEST_F(Completion, WaitsForAnyAndSomeAreTestsBetweenWhichTheServerShows) {
  for (const unsigned own : {1u, 2u, 5u, 7u}) {
    for (const int polls : {0, 1, 7}) {
      fill(own, polls);
      int index = -1, ended = 0, indices[kCount];
      complete(&server,
               {Which::any, How::wait, kCount, requests.data(), status_ignore(), nullptr, &index});
      EXPECT_EQ(index, 0);
      EXPECT_EQ(server.shown, requests.data().address());
      complete(&server, {Which::some, How::wait, kCount, requests.data(), statuses_ignore(),
                         nullptr, nullptr, &ended, indices});
      EXPECT_GE(ended, 1);
      EXPECT_EQ(count_null(), 1 + ended);
      EXPECT_TRUE(server.waited);
    }
  }
}

TEST_F(Completion, ALookLeavesTheArrayAsItIs) {
  fill(0b11, 0);
  int done = 0;
  mpi.Request_get_status_all = [](int, RequestPointer, int* its_done, StatusPointer) {
    return *its_done = 1, kMpiSuccess;
  };
  complete(&server, {Which::all, How::look, kCount, requests.data(), statuses.data(), &done});
  EXPECT_NE(server.shown, requests.data().address());
  complete(&server, {Which::one, How::look, 1, requests.data(), statuses.data(), &done});
  EXPECT_TRUE(done);
  EXPECT_EQ(count_null(), 0);
}

}  // namespace
}  // namespace sumac

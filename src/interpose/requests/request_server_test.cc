// SPDX-License-Identifier: BSD-3-Clause
// The tests check that Sumac's requests behave as the MPI's in any call about requests: in random
// programs that hold nonblocking and persistent requests of both, wait for them, test and look at
// them, alone and in arrays, cancel and free them. A request must be told to have ended once for
// each start, when its result is there.
#include <gtest/gtest.h>

#include <iterator>
#include <list>
#include <random>
#include <string>
#include <vector>

#include "interpose/mpi/fake_requests_test.h"
#include "interpose/requests/served_ranks_test.h"

namespace sumac {
namespace {

using Random = std::minstd_rand;

// This is a request as the program knows it.
struct Held {
  bool own = true;  // Sumac's, otherwise the MPI's
  bool persistent = false, active = true;
  int error = kMpiSuccess;  // a request of the MPI's ends with this
  MpiRequest handle = kMpi.request_null;
  Sum sum = {};
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed), ranks_(seed) {}

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
    end();
  }

 private:
  bool one_in(unsigned n) { return random_() % n == 0; }

  void step() {
    ranks_.step();
    switch (random_() % 8) {
      case 0:
      case 1:
        return add();
      case 2:
      case 3:
        return start();
      case 4:
        return misuse();
      default:
        return complete();
    }
  }

  void fill(Sum& sum) {
    sum.own = static_cast<std::int32_t>(random_() % 1000);
    sum.of_peer = static_cast<std::int32_t>(random_() % 1000);
    sum.result = -1;
  }
  void add() {
    if (count_active() >= 6) return;
    Held& made = held_.emplace_back();
    made.own = !one_in(3);
    made.persistent = one_in(3);
    made.active = !made.persistent;
    fill(made.sum);
    if (made.own) {
      made.handle = made.persistent ? ranks_.initialise(made.sum) : ranks_.begin(made.sum);
      return;
    }
    FakeRequest request;
    made.error = request.error = one_in(4) ? kMpi.err_truncate : kMpiSuccess;
    request.polls = static_cast<int>(random_() % 4);
    request.persistent = made.persistent;
    request.active = made.active;
    request.source = 1;
    made.handle = fake_requests.add(request);
    const MpiRequest handle = made.handle;
    fake_requests.at(handle).begins = [handle] { fake_requests.at(handle).polls = 2; };
  }
  int count_active() const {
    int active = 0;
    for (const Held& each : held_) active += each.active;
    return active;
  }

  // Starts one inactive request, or all of them.
  void start() {
    std::vector<Held*> started;
    HandleArray<MpiRequest> handles;
    for (Held& each : held_) {
      if (!each.persistent || each.active || one_in(3)) continue;
      fill(each.sum);
      started.push_back(&each);
      handles.push_back(each.handle);
    }
    if (started.empty()) return;
    const bool all = one_in(2);
    const std::size_t number = all ? started.size() : 1;
    EXPECT_EQ(all ? ServedRanks::calls().Startall(static_cast<int>(number), handles.data())
                  : ServedRanks::calls().Start(handles.data()),
              kMpiSuccess);
    for (std::size_t i = 0; i < number; ++i) started[i]->active = true;
  }

  // The standard does not allow these of collectives. The program is told, and the request is as it
  // was; but a persistent request may be freed, and one that is active then ends first.
  void misuse() {
    if (held_.empty()) return;
    const auto at = std::next(held_.begin(), static_cast<std::ptrdiff_t>(random_() % held_.size()));
    Held& asked = *at;
    MpiRequest handle = asked.handle;
    const MpiFunctions& calls = ServedRanks::calls();
    if (!asked.own) return;
    if (one_in(2)) {
      expect_refused(calls.Cancel(one(handle)));
    } else if (!asked.persistent) {
      expect_refused(calls.Request_free(one(handle)));
    } else if (asked.active && one_in(2)) {
      expect_refused(calls.Start(one(handle)));
    } else {
      EXPECT_EQ(calls.Request_free(one(handle)), kMpiSuccess);
      EXPECT_EQ(handle, kMpi.request_null);
      EXPECT_TRUE(!asked.active || asked.sum.is_right());
      held_.erase(at);
      return;
    }
    EXPECT_EQ(handle, asked.handle);
  }
  void expect_refused(int error) {
    EXPECT_NE(error, kMpiSuccess);
    EXPECT_EQ(ranks_.take_error(), error);
  }

  void complete() {
    std::vector<Held*> asked;
    HandleArray<MpiRequest> handles;
    for (Held& each : held_) {
      if (one_in(3)) continue;
      if (one_in(8)) {
        asked.push_back(nullptr);
        handles.push_back(kMpi.request_null);
      }
      asked.push_back(&each);
      handles.push_back(each.handle);
    }
    if (!asked.empty()) ask(static_cast<Ask>(random_() % kAsks), asked, handles);
  }
  void ask(Ask ask, const std::vector<Held*>& asked, HandleArray<MpiRequest>& handles);
  void tell(Ask ask, Held& held, const Told& told, MpiRequest handle);
  void end();

  Random random_;
  std::list<Held> held_;  // operations refer to their sums
  ServedRanks ranks_;
};

void Program::ask(Ask ask, const std::vector<Held*>& asked, HandleArray<MpiRequest>& handles) {
  const HandleArray<MpiRequest> before = handles;
  const Answers answers = ask_about(ServedRanks::calls(), ask, handles);
  bool failed = false, any_active = false;
  for (const Held* each : asked) any_active |= each && each->active;
  const bool picks = static_cast<int>(ask) % 4 >= 2;  // any or some
  EXPECT_TRUE(!waits(ask) || answers.done);
  EXPECT_TRUE(!picks || answers.no_active == !any_active);
  for (const Told& told : answers.told) {
    const auto index = static_cast<std::size_t>(told.index);
    Held* const held = asked[index];
    const bool active = held && held->active;
    EXPECT_TRUE(active || !picks) << "an inactive request is no end";
    failed |= told.error != kMpiSuccess;
    if (active) {
      tell(ask, *held, told, handles[index]);
    } else {
      EXPECT_EQ(told.error, kMpiSuccess);
      EXPECT_EQ(told.status.source(), kMpi.any_source);
      EXPECT_EQ(handles[index], before[index]);
    }
  }
  EXPECT_TRUE(failed || answers.error == kMpiSuccess || looks(ask));
  // The others are as they were.
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_TRUE(!asked[i] || !asked[i]->active || handles[i] == before[i]);
  }
  std::erase_if(held_, [](const Held& each) { return !each.persistent && !each.active; });
}

void Program::tell(Ask ask, Held& held, const Told& told, MpiRequest handle) {
  EXPECT_EQ(told.error, looks(ask) ? kMpiSuccess : held.own ? kMpiSuccess : held.error);
  if (held.own) {
    EXPECT_TRUE(held.sum.is_right()) << "the result is there";
    EXPECT_EQ(bytes_in(told.status), 0);
    EXPECT_FALSE(is_cancelled(told.status));
  }
  const bool stays = held.persistent || looks(ask);
  EXPECT_EQ(handle, stays ? held.handle : kMpi.request_null);
  if (!looks(ask)) held.active = false;
}

void Program::end() {
  std::vector<Held*> asked;
  HandleArray<MpiRequest> handles;
  for (Held& each : held_) {
    each.error = kMpiSuccess;
    if (!each.own) fake_requests.at(each.handle).error = kMpiSuccess;
    asked.push_back(&each);
    handles.push_back(each.handle);
  }
  if (!asked.empty()) ask(Ask::waitall, asked, handles);
  EXPECT_EQ(count_active(), 0);
  for (Held& each : held_) {
    EXPECT_EQ(ServedRanks::calls().Request_free(one(each.handle)), kMpiSuccess);
  }
}

TEST(RequestServer, TellsOfEachEndOnce) {
  for (unsigned seed = 1; seed <= 300 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program(seed).run(120);
  }
}

}  // namespace
}  // namespace sumac

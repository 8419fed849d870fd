// SPDX-License-Identifier: BSD-3-Clause
// The tests check when the profile takes a request's call for ended, and what time it counts. The
// constants are those of the standard's binary interface, which need no library.
#include "interpose/watch/profile.h"

#include <gtest/gtest.h>

#include <vector>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/requests/held_requests.h"
namespace sumac {

MpiFunctions mpi;  // nothing calls the MPI

namespace {

std::vector<EndedCall> added;

}  // namespace

// This stands in for the profile.
Profile& profile() {
  static auto* the_profile = new Profile;
  return *the_profile;
}
void Profile::add(const EndedCall& call) { added.push_back(call); }

namespace {

constexpr std::uint64_t kBegin = 1000, kTook = 600;

class ProfiledRequests : public testing::Test {
 protected:
  void SetUp() override { added.clear(); }
  // Requests that are left belong to no other test.
  void TearDown() override { leave_held(); }

  static void hold(std::uintptr_t request, bool persistent = false) {
    EndedCall made{};
    made.bytes = request;
    hold_request({request}, made, persistent);
  }
  // Returns true if a call about the request would be noted.
  static bool is_held(std::uintptr_t request) {
    MpiRequest handle{request};
    return AskedRequests(1, one(handle), true).any();
  }

  // Tells of a call about these requests, which ends some of them.
  static void tell(const std::vector<std::uintptr_t>& requests, const std::vector<int>& ended,
                   bool looks = false) {
    static MpiStatus status;
    HandleArray<MpiRequest> handles;
    for (const std::uintptr_t each : requests) handles.push_back({each});
    AskedRequests asked(static_cast<int>(requests.size()), handles.data(), looks);
    std::vector<RequestEnd> ends;
    for (const int i : ended) ends.push_back({i, status.pointer(), true});
    if (asked.any()) asked.tell(ends, {kBegin, kBegin + kTook});
  }
  static void start(std::uintptr_t request) {
    MpiRequest handle{request};
    tell_started(1, one(handle), {kBegin, kBegin + kTook});
  }
};

TEST_F(ProfiledRequests, ACallEndsWithItsRequest) {
  hold(5);
  tell({5}, {});
  EXPECT_TRUE(added.empty());
  tell({5}, {0});
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].completing, 2 * kTook);
  EXPECT_EQ(added[0].end, kBegin + kTook);
  EXPECT_FALSE(is_held(5));
  tell({5}, {0});  // the handle is that of another request
  EXPECT_EQ(added.size(), 1u);
}

TEST_F(ProfiledRequests, RequestsOfCollectivesShareTheTime) {
  hold(6);
  hold(7);
  tell({1, 6, 2, 7, kMpi.request_null.bits}, {0, 1, 2});
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].bytes, 6u);
  EXPECT_EQ(added[0].completing, kTook / 2);
  EXPECT_TRUE(is_held(7));
}

TEST_F(ProfiledRequests, OneHandleMayStandForSeveral) {
  hold(8);
  hold(8);
  tell({8}, {0});
  tell({8}, {0});
  EXPECT_EQ(added.size(), 2u);
}

TEST_F(ProfiledRequests, APersistentOneIsACallAtEachStart) {
  hold(9, true);
  EXPECT_FALSE(is_held(9));
  for (std::uint32_t round = 0; round < 3; ++round) {
    start(9);
    EXPECT_TRUE(is_held(9));
    tell({9}, {0});
    ASSERT_EQ(added.size(), round + 1);
    EXPECT_EQ(added[round].sequence, round);
    EXPECT_EQ(added[round].inside, kTook);
    EXPECT_EQ(added[round].completing, kTook);
    EXPECT_FALSE(is_held(9));
  }
}

// A call about it alone has returned an error, after which its handle tells nothing.
TEST_F(ProfiledRequests, APersistentOneEndsByItsNextStartOrItsFree) {
  hold(14, true);
  start(14);
  tell({14}, {});
  EXPECT_TRUE(added.empty());
  start(14);
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].end, kBegin + kTook);
  EXPECT_EQ(added[0].completing, kTook);
  EXPECT_FALSE(take_freed({14}));
  ASSERT_EQ(added.size(), 2u);
  EXPECT_EQ(added[1].sequence, 1u);
}

TEST_F(ProfiledRequests, ALookEndsNothing) {
  hold(10);
  tell({10}, {0}, true);
  EXPECT_TRUE(added.empty());
  EXPECT_TRUE(is_held(10));
}

TEST_F(ProfiledRequests, FreedOnesAreForgottenAndTheMpisOwn) {
  hold(11);
  EXPECT_FALSE(take_freed({11}));
  EXPECT_FALSE(is_held(11));
  leave_held();
  EXPECT_TRUE(added.empty());
}

TEST_F(ProfiledRequests, WhatHasNotEndedIsAddedAtTheEnd) {
  hold(12);
  hold(13, true);
  leave_held();
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].bytes, 12u);
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The tests check the table of packed messages whose requests are under way, and what the listener
// does with it. The MPI below is this file; the constants are those of the standard's binary
// interface, which need no library.
#include "interpose/messages/kept_messages.h"

#include <gtest/gtest.h>

#include <map>

#include "interpose/messages/packing_calls.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

MpiFunctions mpi;

namespace {

// This counts how often the message of each request has been put where the program wants it.
std::map<std::uintptr_t, int> delivered;
// These messages still have their memory.
std::map<std::uintptr_t, bool> alive;

class Message final : public Delivery {
 public:
  explicit Message(std::uintptr_t request) : request_(request) { alive[request] = true; }
  ~Message() override { alive[request_] = false; }

 private:
  void unpack(StatusPointer) override { ++delivered[request_]; }
  const std::uintptr_t request_;
};

bool arrived = false;
int error = kMpiSuccess;

class KeptMessages : public testing::Test {
 protected:
  void SetUp() override {
    delivered.clear();
    alive.clear();
    arrived = false;
    error = kMpiSuccess;
    mpi.Test = [](RequestPointer request, int* done, StatusPointer) {
      *done = arrived;
      if (arrived) request.set(kMpi.request_null);
      return error;
    };
    mpi.Wait = [](RequestPointer, StatusPointer) { return error; };
    mpi.Request_get_status = [](MpiRequest, int* done, StatusPointer) {
      *done = arrived;
      return error;
    };
  }
  // Nothing is kept after a test.
  void TearDown() override { EXPECT_TRUE(no_message_kept()); }

  static void keep(std::uintptr_t request, bool receives) {
    keep_message({request}, std::make_unique<Message>(request), receives);
  }
  static void tell(std::uintptr_t request, bool success, bool lasting = false) {
    RequestEvent event;
    event.asked = {{request}};
    event.ends = {{0, {request}, status.pointer(), success}};
    event.lasting = lasting;
    message_listener().told(event);
  }
  static inline MpiStatus status{};
};

TEST_F(KeptMessages, AReceivedMessageIsDeliveredAtItsEnd) {
  keep(5, true);
  HandleArray<MpiRequest> asked(2, {4});
  asked.set(1, {5});
  EXPECT_TRUE(message_listener().holds_any(2, asked.data()));
  EXPECT_FALSE(message_listener().holds_any(1, asked.data()));
  EXPECT_EQ(delivered[5], 0);
  tell(5, true);
  EXPECT_EQ(delivered[5], 1);
  EXPECT_FALSE(alive[5]);
  tell(5, true);  // the handle is that of another request by now
  EXPECT_EQ(delivered[5], 1);
}

TEST_F(KeptMessages, NothingIsDeliveredOfASendNorAfterAnError) {
  keep(6, false);
  keep(7, true);
  tell(6, true);
  tell(7, false);
  EXPECT_EQ(delivered[6] + delivered[7], 0);
  EXPECT_FALSE(alive[6] || alive[7]);
}

TEST_F(KeptMessages, AMessageThatIsLookedAtIsDeliveredOnce) {
  keep(8, true);
  tell(8, true, true);
  EXPECT_EQ(delivered[8], 1);
  EXPECT_TRUE(alive[8]);
  tell(8, true);
  EXPECT_EQ(delivered[8], 1);
}

TEST_F(KeptMessages, ASendThatHasEndedAtOnceIsNotKept) {
  keep_unless_ended({9}, std::make_unique<Message>(9), false);
  EXPECT_FALSE(no_message_kept());
  tell(9, true);
  arrived = true;
  keep_unless_ended({9}, std::make_unique<Message>(9), false);
  EXPECT_TRUE(no_message_kept());
}

TEST_F(KeptMessages, AFreedRequestIsReceivedLater) {
  keep(10, true);
  EXPECT_FALSE(message_listener().takes_freed({11}));
  EXPECT_TRUE(message_listener().takes_freed({10}));
  message_listener().look();
  EXPECT_TRUE(alive[10]);
  arrived = true;
  message_listener().look();
  EXPECT_EQ(delivered[10], 1);
  EXPECT_FALSE(alive[10]);
}

TEST_F(KeptMessages, FinalisationWaitsForFreedRequests) {
  keep(12, true);
  EXPECT_TRUE(message_listener().takes_freed({12}));
  wait_for_adopted();
  EXPECT_EQ(delivered[12], 1);
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The tests check when packed messages whose requests are under way are unpacked, and how long they
// have their memory. The constants are those of the standard's binary interface, which need no
// library.
#include "interpose/messages/kept_messages.h"

#include <gtest/gtest.h>

#include <map>

#include "interpose/mpi/mpi_functions.h"
#include "interpose/requests/held_requests.h"

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

class KeptMessages : public testing::Test {
 protected:
  void SetUp() override {
    delivered.clear();
    alive.clear();
    mpi.Request_get_status = [](MpiRequest, int* done, StatusPointer) {
      return *done = 0, kMpiSuccess;
    };
  }
  // Nothing is kept after a test.
  void TearDown() override { EXPECT_FALSE(any_held()); }

  // Tells of a call that has ended the request, or has looked at it.
  static void tell(std::uintptr_t request, bool success, bool looks = false) {
    MpiRequest handle{request};
    AskedRequests asked(1, one(handle), looks);
    EXPECT_TRUE(asked.any());
    MpiStatus status;
    asked.tell({{0, status.pointer(), success}}, {});
  }
};

TEST_F(KeptMessages, AReceivedMessageIsDeliveredAtItsEnd) {
  keep_receive({5}, std::make_unique<Message>(5));
  keep_exchange({6}, std::make_unique<Message>(6));
  EXPECT_EQ(delivered[5] + delivered[6], 0);
  for (const std::uintptr_t request : {5, 6}) {
    tell(request, true);
    EXPECT_EQ(delivered[request], 1);
    EXPECT_FALSE(alive[request]);
  }
}

TEST_F(KeptMessages, NothingIsDeliveredOfASendNorAfterAnError) {
  keep_send({6}, std::make_unique<Message>(6));
  keep_receive({7}, std::make_unique<Message>(7));
  tell(6, true);
  tell(7, false);
  EXPECT_EQ(delivered[6] + delivered[7], 0);
  EXPECT_FALSE(alive[6] || alive[7]);
}

TEST_F(KeptMessages, AMessageThatIsLookedAtIsDeliveredOnce) {
  keep_receive({8}, std::make_unique<Message>(8));
  for (const bool looks : {true, true, false}) {
    EXPECT_TRUE(alive[8]);
    tell(8, true, looks);
    EXPECT_EQ(delivered[8], 1);
  }
}

TEST_F(KeptMessages, TheMemoryOfAFreedRequestIsKept) {
  keep_receive({10}, std::make_unique<Message>(10));
  EXPECT_TRUE(take_freed({10}));
  EXPECT_TRUE(alive[10]);
  mpi.Wait = [](RequestPointer, StatusPointer) { return kMpiSuccess; };
  wait_for_freed();
  EXPECT_EQ(delivered[10], 1);
  EXPECT_FALSE(alive[10]);
}

}  // namespace
}  // namespace sumac

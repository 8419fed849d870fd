// SPDX-License-Identifier: BSD-3-Clause
// The tests check that exchanges give each rank what was sent to it, whether Sumac packs blocks or
// the MPI does: MPI_Alltoall, MPI_Alltoallw and MPI_Neighbor_alltoallw, blocking and nonblocking,
// with random types, counts and neighbours. All ranks take turns in one thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "interpose/messages/fake_exchange_test.h"
#include "interpose/messages/packing_calls.h"
#include "interpose/messages/typed_data_test.h"
#include "interpose/mpi/fake_requests_test.h"
#include "interpose/process/entry.h"
#include "interpose/requests/events.h"
#include "interpose/requests/held_requests.h"
#include "testing/fibers.h"

namespace sumac {

Family family() { return Family::openmpi; }

namespace {

using testing::Fibers;
using Random = std::mt19937_64;
constexpr int kTypes = 6;
constexpr MpiComm kComm{0x10000};

// These data have the same packed bytes on both sides.
struct Shape {
  MpiDatatype sent = kMpi.byte, received = kMpi.byte;
  int sent_count = 0, received_count = 0;
};

Shape random_shape(Random& random) {
  Shape shape;
  const auto any = [&] { return random() % 5 == 0 ? kMpi.byte : type_at(random() % kTypes); };
  shape.sent = any();
  shape.received = random() % 2 == 0 ? shape.sent : any();
  const std::size_t a = size_of_type(shape.sent), b = size_of_type(shape.received);
  std::size_t bytes = std::lcm(a, b) * (random() % 4);
  if (bytes > 3000) {
    shape.received = shape.sent;
    bytes = a * (random() % 4);
  }
  shape.sent_count = static_cast<int>(bytes / a);
  shape.received_count = static_cast<int>(bytes / size_of_type(shape.received));
  return shape;
}

// One side of a rank's call has blocks in memory of their own; their places are relative to the
// first one.
struct Side {
  std::vector<std::unique_ptr<TypedMemory>> blocks;
  std::vector<int> counts, places;
  std::vector<MpiAint> far_places;
  HandleArray<MpiDatatype> types;

  TypedMemory& add(MpiDatatype type, int count, Random& random) {
    blocks.push_back(std::make_unique<TypedMemory>(type, count, random));
    counts.push_back(count);
    types.push_back(type);
    const auto at = static_cast<char*>(blocks.back()->address()) - static_cast<char*>(address());
    EXPECT_TRUE(at >= INT_MIN && at <= INT_MAX) << "the memory of one test is not that large";
    places.push_back(static_cast<int>(at));
    far_places.push_back(at);
    return *blocks.back();
  }
  void* address() const { return blocks.empty() ? nullptr : blocks[0]->address(); }
};

enum class What : std::uint8_t { alltoall, alltoallw, neighbors };

// All ranks make this call.
struct Exchange {
  What what = What::alltoall;
  bool waits = true;
  std::vector<Side> sent, received;  // one for each rank
  std::vector<MpiRequest> requests;
};

constexpr CallKind kKinds[2][2] = {
    {{Function::alltoall, info_of(Collective::alltoall), Form::nonblocking, false, exchange_below},
     {Function::alltoall, info_of(Collective::alltoall), Form::blocking, false, exchange_below}},
    {{Function::alltoallw, info_of(Collective::alltoallv), Form::nonblocking, false,
      exchange_below},
     {Function::alltoallw, info_of(Collective::alltoallv), Form::blocking, false, exchange_below}}};

int call_collective(Exchange& exchange, std::size_t own) {
  const Side &sent = exchange.sent[own], &received = exchange.received[own];
  const bool lists = exchange.what == What::alltoallw;
  Call call{kKinds[lists][exchange.waits]};
  call.comm = kComm;
  call.request = one(exchange.requests[own]);
  call.send = {sent.address(), lists ? 0 : sent.counts[0] / around_exchange.ranks, sent.types[0]};
  call.receive = {received.address(), lists ? 0 : received.counts[0] / around_exchange.ranks,
                  received.types[0]};
  if (lists) {
    call.send_counts = sent.counts.data();
    call.send_displacements = sent.places.data();
    call.send_types = sent.types.data();
    call.counts = received.counts.data();
    call.displacements = received.places.data();
    call.types = received.types.data();
  }
  return hand_packed(call);
}

int call_neighbors(Exchange& exchange, std::size_t own) {
  const Side &in = exchange.sent[own], &out = exchange.received[own];
  if (exchange.waits) {
    return in_front.Neighbor_alltoallw(in.address(), in.counts.data(), in.far_places.data(),
                                       in.types.data(), out.address(), out.counts.data(),
                                       out.far_places.data(), out.types.data(), kComm);
  }
  return in_front.Ineighbor_alltoallw(in.address(), in.counts.data(), in.far_places.data(),
                                      in.types.data(), out.address(), out.counts.data(),
                                      out.far_places.data(), out.types.data(), kComm,
                                      one(exchange.requests[own]));
}

// Fills both sides of all ranks, and says what must arrive.
class Maker {
 public:
  Maker(Random& random, int ranks) : random_(random), ranks_(ranks) {}

  Exchange make(What what) {
    Exchange made;
    made.what = what;
    made.waits = random_() % 2 == 0;
    const auto ranks = static_cast<std::size_t>(ranks_);
    made.sent.resize(ranks);
    made.received.resize(ranks);
    made.requests.resize(ranks, kMpi.request_null);
    if (what == What::alltoall) fill_equal(made);
    if (what == What::alltoallw) fill_listed(made);
    if (what == What::neighbors) fill_neighbors(made);
    return made;
  }

 private:
  void fill_equal(Exchange& made) {
    const Shape shape = random_shape(random_);
    for (int r = 0; r < ranks_; ++r) {
      const auto own = static_cast<std::size_t>(r);
      made.sent[own].add(shape.sent, shape.sent_count * ranks_, random_);
      made.received[own].add(shape.received, shape.received_count * ranks_, random_);
    }
    for (std::size_t to = 0; to < made.sent.size(); ++to) {
      std::string all;
      for (const Side& from : made.sent) {
        const std::string packed = from.blocks[0]->packed();
        const std::size_t block = packed.size() / made.sent.size();
        all += packed.substr(to * block, block);
      }
      made.received[to].blocks[0]->expect(all);
    }
  }
  // The blocks of a receiver are in the order of senders, too, because all are added in that order.
  void fill_listed(Exchange& made) {
    for (Side& from : made.sent) {
      for (Side& to : made.received) add_pair(from, to);
    }
  }
  void add_pair(Side& from, Side& to) {
    const Shape shape = random_shape(random_);
    const std::string packed = from.add(shape.sent, shape.sent_count, random_).packed();
    to.add(shape.received, shape.received_count, random_).expect(packed);
  }
  // Blocks go to and come from some ranks, and from nobody beyond an edge.
  void fill_neighbors(Exchange& made) {
    around_exchange.neighbors.assign(made.sent.size(), {});
    for (int i = 0; i < ranks_ * ranks_; ++i) {
      const int from = i % ranks_, to = i / ranks_;
      Side& sent = made.sent[static_cast<std::size_t>(from)];
      Side& received = made.received[static_cast<std::size_t>(to)];
      const auto edge = random_() % 4;
      Neighbors& of_sender = around_exchange.neighbors[static_cast<std::size_t>(from)];
      Neighbors& of_receiver = around_exchange.neighbors[static_cast<std::size_t>(to)];
      if (edge <= 1) {
        add_pair(sent, received);
        of_sender.to.push_back(to);
        of_receiver.from.push_back(from);
      } else if (edge == 2) {
        const Shape shape = random_shape(random_);
        sent.add(shape.sent, shape.sent_count, random_);
        of_sender.to.push_back(kMpi.proc_null);
        received.add(shape.received, shape.received_count, random_);
        of_receiver.from.push_back(kMpi.proc_null);
      }
    }
  }

  Random& random_;
  const int ranks_;
};

void wait(RequestPointer request) {
  for (int done = 0; !done; Fibers::yield()) in_front.Test(request, &done, status_ignore());
}

void run_rank(std::vector<Exchange>& exchanges, std::size_t own, int expected) {
  for (Exchange& each : exchanges) {
    const int error =
        each.what == What::neighbors ? call_neighbors(each, own) : call_collective(each, own);
    EXPECT_EQ(error, expected);
    if (each.waits && error == kMpiSuccess) {
      for (const auto& block : each.received[own].blocks) EXPECT_TRUE(block->is_as_expected());
    }
  }
  for (Exchange& each : exchanges) wait(one(each.requests[own]));
}

class PackedExchange : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool is_served = [] {
      serve_requests(nullptr, in_front);
      serve_neighbors([](int, void*) {});
      return true;
    }();
    EXPECT_TRUE(is_served);
  }

  // The ranks make several calls, of which those that are nonblocking go on at the same time.
  static int run(unsigned seed, bool fails) {
    Random random(seed);
    const int ranks = 1 + static_cast<int>(random() % 5);
    begin_exchanges(seed, ranks);
    make_types(seed, kTypes);
    options.pack_messages = seed % 3 * 40 + 1;
    around_exchange.fails = fails;
    Maker maker(random, ranks);
    std::vector<Exchange> exchanges;
    if (random() % 2 == 0) exchanges.push_back(maker.make(What::neighbors));
    while (exchanges.size() < 4) {
      exchanges.push_back(maker.make(random() % 2 ? What::alltoall : What::alltoallw));
    }
    std::ranges::shuffle(exchanges, random);
    const int expected = fails ? kMpi.err_other : kMpiSuccess;
    Fibers(seed).run(
        ranks, [&](int own) { run_rank(exchanges, static_cast<std::size_t>(own), expected); });
    for (const Exchange& each : exchanges) {
      for (const Side& side : each.sent) {
        for (const auto& block : side.blocks) EXPECT_TRUE(block->is_as_expected());
      }
      for (const Side& side : each.received) {
        for (const auto& block : side.blocks) {
          EXPECT_TRUE(fails ? block->has_kept_gaps() : block->is_as_expected());
        }
      }
    }
    EXPECT_FALSE(any_held());
    EXPECT_EQ(fake_requests.live(), 0);
    return around_exchange.packed;
  }
};

TEST_F(PackedExchange, GivesEachRankWhatWasSentToIt) {
  int packed = 0;
  for (unsigned seed = 1; seed <= 250 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    packed += run(seed, false);
  }
  EXPECT_GT(packed, 500);
}

TEST_F(PackedExchange, KeepsNothingOfCallsThatFail) {
  for (unsigned seed = 1; seed <= 30 && !HasFailure(); ++seed) run(seed, true);
}

const Call* handed = nullptr;
int note_handed(const Call& call) { return handed = &call, kMpiSuccess; }

// The MPI gets these calls as they are.
TEST_F(PackedExchange, LeavesOtherCallsAlone) {
  begin_exchanges(1, 2);
  const CollectiveInfo& info = info_of(Collective::alltoall);
  for (const Function function : {Function::alltoall, Function::alltoallv, Function::alltoallw}) {
    for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
      for (const int why : {0, 1, 2, 3, 4}) {
        const CallKind kind{function, info, form, why == 1, note_handed};
        Call call{kind};
        call.comm = why == 2 ? kMpi.comm_null : kComm;
        if (why == 0) call.send.address = kMpi.in_place;
        mpi_is_known_to_be_up = why != 3;
        mpi.Comm_test_inter = [](MpiComm, int* inter) { return *inter = 1, kMpiSuccess; };
        handed = nullptr;
        EXPECT_EQ(hand_packed(call), kMpiSuccess);
        EXPECT_EQ(handed, &call) << "as the program made it";
      }
    }
  }
  mpi_is_known_to_be_up = true;
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/fake_exchange_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "interpose/messages/typed_data_test.h"
#include "interpose/mpi/fake_requests_test.h"
#include "testing/fibers.h"

namespace sumac {
namespace {

using testing::Fibers;

struct Block {
  int peer;
  char* address;
  int count;
  MpiDatatype type;
};
using Blocks = std::vector<Block>;

// A rank takes part with this. The MPI looks at lists and data when all ranks have come.
struct Part {
  std::function<Blocks()> sent, received;
  MpiRequest request = kMpi.request_null;  // a nonblocking call has one
};
using Exchange = std::map<int, Part>;  // the key is a rank

std::deque<Exchange> exchanges;
std::vector<std::size_t> made;  // each rank has made so many
std::mt19937 drawn;

void note_packed_side(const Blocks& blocks) {
  for (const Block& each : blocks) {
    if (each.count > 0 && each.type == kMpi.packed) {
      ++around_exchange.packed;
      return;
    }
  }
}

void move_all(Exchange& exchange) {
  std::map<std::pair<int, int>, std::string> moving;
  for (const auto& [rank, part] : exchange) {
    const Blocks blocks = part.sent();
    note_packed_side(blocks);
    for (const Block& each : blocks) {
      if (each.peer == kMpi.proc_null) continue;
      moving[{rank, each.peer}] = pack_by_map(each.address, each.count, each.type);
    }
  }
  for (const auto& [rank, part] : exchange) {
    const Blocks blocks = part.received();
    note_packed_side(blocks);
    for (const Block& each : blocks) {
      if (each.peer == kMpi.proc_null) continue;
      const std::string& bytes = moving.at({each.peer, rank});
      EXPECT_EQ(bytes.size(), size_of_type(each.type) * static_cast<std::size_t>(each.count));
      unpack_by_map(bytes, each.address, each.count, each.type);
    }
    FakeRequest ended;
    ended.polls = static_cast<int>(drawn() % 3);
    if (part.request != kMpi.request_null) fake_requests.end(part.request, ended);
  }
}

int take_part(Part part, RequestPointer request) {
  if (around_exchange.fails) return kMpi.err_other;
  const int own = Fibers::current();
  const std::size_t number = made[static_cast<std::size_t>(own)]++;
  if (number == exchanges.size()) exchanges.emplace_back();
  Exchange& exchange = exchanges[number];
  const auto all_have_come = [&] {
    return exchange.size() == static_cast<std::size_t>(around_exchange.ranks);
  };
  if (request) {
    part.request = fake_requests.add({});
    request.set(part.request);
  }
  exchange[own] = std::move(part);
  if (all_have_come()) move_all(exchange);
  while (!request && !all_have_come()) Fibers::yield();
  return kMpiSuccess;
}

std::function<Blocks()> equal_blocks(const Data& data) {
  return [data] {
    const FakeType* type = find_fake_type(data.type);
    Blocks blocks;
    for (int r = 0; r < around_exchange.ranks; ++r) {
      const std::ptrdiff_t block = data.count * (type ? type->extent : 1);
      blocks.push_back({r, static_cast<char*>(data.address) + r * block,
                        static_cast<int>(data.count), data.type});
    }
    return blocks;
  };
}

// An int may not reach from a block of the program's to packed bytes.
void expect_all_or_none(const Blocks& blocks) {
  const auto with_data = std::ranges::count_if(blocks, [](const Block& b) { return b.count > 0; });
  const auto packed = std::ranges::count_if(
      blocks, [](const Block& b) { return b.count > 0 && b.type == kMpi.packed; });
  EXPECT_TRUE(packed == 0 || packed == with_data);
}

template <class Place>
std::function<Blocks()> listed_blocks(const void* address, const void* counts, const void* places,
                                      DatatypePointer types, const std::vector<int>& peers) {
  return [=] {
    Blocks blocks;
    auto* const base = static_cast<char*>(const_cast<void*>(address));
    for (std::size_t i = 0; i < peers.size(); ++i) {
      blocks.push_back({peers[i], base + static_cast<const Place*>(places)[i],
                        static_cast<const int*>(counts)[i], types[static_cast<std::ptrdiff_t>(i)]});
    }
    if (sizeof(Place) < sizeof(MpiAint)) expect_all_or_none(blocks);
    return blocks;
  };
}

int begin_neighbors(const void* in, const int* in_counts, const MpiAint* in_places,
                    DatatypePointer in_types, void* out, const int* out_counts,
                    const MpiAint* out_places, DatatypePointer out_types, MpiComm,
                    RequestPointer request) {
  const Neighbors& own = around_exchange.neighbors[static_cast<std::size_t>(Fibers::current())];
  return take_part({listed_blocks<MpiAint>(in, in_counts, in_places, in_types, own.to),
                    listed_blocks<MpiAint>(out, out_counts, out_places, out_types, own.from)},
                   request);
}

}  // namespace

int exchange_below(const Call& call) {
  const RequestPointer request = call.is_deferred() ? call.request : nullptr;
  if (call.kind.function == Function::alltoall) {
    return take_part({equal_blocks(call.send), equal_blocks(call.receive)}, request);
  }
  std::vector<int> peers;
  for (int r = 0; r < around_exchange.ranks; ++r) peers.push_back(r);
  Part part{
      listed_blocks<int>(call.send.address, call.send_counts, call.send_displacements,
                         call.send_types, peers),
      listed_blocks<int>(call.receive.address, call.counts, call.displacements, call.types, peers)};
  return take_part(std::move(part), request);
}

int find_neighbors(MpiComm, Neighbors& neighbors) {
  if (around_exchange.neighbors.empty()) return kMpi.err_topology;
  neighbors = around_exchange.neighbors[static_cast<std::size_t>(Fibers::current())];
  return kMpiSuccess;
}

void begin_exchanges(unsigned seed, int ranks) {
  drawn.seed(seed);
  exchanges.clear();
  made.assign(static_cast<std::size_t>(ranks), 0);
  around_exchange = {};
  around_exchange.ranks = ranks;
  fake_requests.begin(seed, mpi);
  mpi.Comm_test_inter = [](MpiComm, int* inter) { return *inter = 0, kMpiSuccess; };
  mpi.Comm_size = [](MpiComm, int* size) { return *size = around_exchange.ranks, kMpiSuccess; };
  mpi.Ineighbor_alltoallw = begin_neighbors;
  mpi.Neighbor_alltoallw = [](const void* in, const int* in_counts, const MpiAint* in_places,
                              DatatypePointer in_types, void* out, const int* out_counts,
                              const MpiAint* out_places, DatatypePointer out_types, MpiComm comm) {
    return begin_neighbors(in, in_counts, in_places, in_types, out, out_counts, out_places,
                           out_types, comm, nullptr);
  };
}

}  // namespace sumac

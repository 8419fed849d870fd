// SPDX-License-Identifier: BSD-3-Clause
// This file packs exchanges that are left to the MPI, on either side or both: the all-to-all
// collectives and those of neighbours, blocking and nonblocking.
#include <climits>
#include <memory>
#include <utility>

#include "interpose/messages/kept_messages.h"
#include "interpose/messages/packed_blocks.h"
#include "interpose/messages/packing_calls.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/neighbors.h"
#include "interpose/process/entry.h"
#include "interpose/process/process.h"

namespace sumac {
namespace {

// The MPI exchanges these blocks. A Side has any(), which is true if it is packed; arguments() for
// the MPI; pack() and unpack(); and note(), which must be called after the MPI's call, without an
// error.
template <class Side>
class PackedExchange final : public Delivery {
 public:
  // make_sent() and make_received() make the sides in place.
  template <class MakeSent, class MakeReceived>
  PackedExchange(MakeSent make_sent, MakeReceived make_received)
      : sent_(make_sent()), received_(make_received()) {}

  // Packs, and makes the MPI's call: below(sent, received), with their arguments.
  template <class Below>
  int begin(Below below) const {
    sent_.pack();
    const int error = below(sent_.arguments(), received_.arguments());
    if (error != kMpiSuccess) return error;
    sent_.note();
    received_.note();
    return error;
  }
  bool packs() const { return sent_.any() || received_.any(); }
  void unpack() const { received_.unpack(); }

 private:
  void unpack(StatusPointer) override { unpack(); }

  const Side sent_, received_;
};

// Runs an exchange from beginning to end; or, with a request, only begins it.
template <class Side, class Below>
int run_exchange(std::unique_ptr<PackedExchange<Side>> exchange, RequestPointer request,
                 Below below) {
  const int error = exchange->begin(below);
  if (error != kMpiSuccess || !exchange->packs()) return error;
  if (!request) {
    exchange->unpack();
  } else {
    keep_exchange(*request, std::move(exchange));
  }
  return error;
}

// Describes the blocks of all ranks as one, because they lie one behind the other.
MessageData whole(const Data& block, int ranks, MpiComm comm) {
  const bool fits = block.count >= 0 && block.count <= INT_MAX / ranks;
  const int count = fits ? static_cast<int>(block.count) * ranks : 0;
  return {block.address, count, block.type, comm};
}

// This is one side of MPI_Alltoall, whose blocks are packed.
class PackedSide {
 public:
  PackedSide(const Data& block, int ranks, MpiComm comm)
      : given_(block), whole_(whole(block, ranks, comm)), message_(PackedMessage::make(whole_)) {
    if (message_) given_ = {message_->packed(), message_->bytes() / ranks, kMpi.packed};
  }
  bool any() const { return message_ != nullptr; }
  const Data& arguments() const { return given_; }
  void pack() const {
    if (message_) message_->pack();
  }
  void unpack() const {
    if (message_) message_->unpack_all();
  }
  void note() const {
    if (!message_) note_message(whole_);
  }

 private:
  Data given_;
  const MessageData whole_;
  const std::unique_ptr<PackedMessage> message_;
};

RequestPointer request_of(const Call& call) { return call.is_deferred() ? call.request : nullptr; }

int exchange_equal(const Call& call, int ranks) {
  const auto side = [&](const Data& block) {
    return [&] { return PackedSide(block, ranks, call.comm); };
  };
  auto exchange = std::make_unique<PackedExchange<PackedSide>>(side(call.send), side(call.receive));
  return run_exchange(std::move(exchange), request_of(call),
                      [&](const Data& sent, const Data& received) {
                        Call made = call;
                        made.send = sent;
                        made.receive = received;
                        return call.kind.below(made);
                      });
}

int exchange_blocks(const Call& call, int ranks) {
  using Arguments = BlockArguments<int>;
  const std::vector<int> peers(static_cast<std::size_t>(ranks));  // all are there
  const auto side = [&](const Data& data, const void* counts, const void* places,
                        DatatypePointer types) {
    const Arguments given{data.address, static_cast<const int*>(counts),
                          static_cast<const int*>(places), types};
    return [&, given] { return PackedBlocks<int>(given, peers, call.comm); };
  };
  auto exchange = std::make_unique<PackedExchange<PackedBlocks<int>>>(
      side(call.send, call.send_counts, call.send_displacements, call.send_types),
      side(call.receive, call.counts, call.displacements, call.types));
  return run_exchange(std::move(exchange), request_of(call),
                      [&](const Arguments& sent, const Arguments& received) {
                        Call made = call;
                        made.send.address = sent.address;
                        made.send_counts = sent.counts;
                        made.send_displacements = sent.places;
                        made.send_types = sent.types;
                        made.receive.address = received.address;
                        made.counts = received.counts;
                        made.displacements = received.places;
                        made.types = received.types;
                        return call.kind.below(made);
                      });
}

bool may_be_packed(const Call& call) {
  const Function function = call.kind.function;
  const bool lists_fit = function == Function::alltoallw && !call.kind.large;
  return (function == Function::alltoall || lists_fit) && call.kind.form != Form::persistent &&
         call.send.address != kMpi.in_place && call.comm != kMpi.comm_null && mpi_is_up();
}

}  // namespace

int hand_packed(const Call& call) {
  if (!may_be_packed(call)) [[likely]]
    return call.kind.below(call);
  int remote = 0, ranks = 0;
  const int error = mpi.Comm_test_inter(call.comm, &remote);
  if (error != kMpiSuccess) return error;
  if (remote) return call.kind.below(call);
  mpi.Comm_size(call.comm, &ranks);
  const bool lists = call.kind.function == Function::alltoallw;
  return lists ? exchange_blocks(call, ranks) : exchange_equal(call, ranks);
}

namespace {

using Blocks = BlockArguments<MpiAint>;

// Serves an exchange; below(sent, received) is the MPI's call.
template <class Below>
int serve(const Blocks& sent, const Blocks& received, MpiComm comm, RequestPointer request,
          Below below) {
  if (!mpi_is_up() || is_paused() || comm == kMpi.comm_null) return below(sent, received);
  Neighbors neighbors;
  const int error = find_neighbors(comm, neighbors);
  // If there is no topology, the MPI reports it.
  if (error == kMpi.err_topology) return below(sent, received);
  if (error != kMpiSuccess) return error;
  using Side = PackedBlocks<MpiAint>;
  auto exchange = std::make_unique<PackedExchange<Side>>(
      [&] { return Side(sent, std::move(neighbors.to), comm); },
      [&] { return Side(received, std::move(neighbors.from), comm); });
  return run_exchange(std::move(exchange), request, below);
}

int exchange_now(const void* in, const int* in_counts, const MpiAint* in_places,
                 DatatypePointer in_types, void* out, const int* out_counts,
                 const MpiAint* out_places, DatatypePointer out_types, MpiComm comm) {
  return serve({const_cast<void*>(in), in_counts, in_places, in_types},
               {out, out_counts, out_places, out_types}, comm, nullptr,
               [&](const Blocks& sent, const Blocks& received) {
                 return mpi.Neighbor_alltoallw(sent.address, sent.counts, sent.places, sent.types,
                                               received.address, received.counts, received.places,
                                               received.types, comm);
               });
}

int begin_exchange(const void* in, const int* in_counts, const MpiAint* in_places,
                   DatatypePointer in_types, void* out, const int* out_counts,
                   const MpiAint* out_places, DatatypePointer out_types, MpiComm comm,
                   RequestPointer request) {
  return serve({const_cast<void*>(in), in_counts, in_places, in_types},
               {out, out_counts, out_places, out_types}, comm, request,
               [&](const Blocks& sent, const Blocks& received) {
                 return mpi.Ineighbor_alltoallw(sent.address, sent.counts, sent.places, sent.types,
                                                received.address, received.counts, received.places,
                                                received.types, comm, request);
               });
}

}  // namespace

void serve_neighbors(void (*serve)(int call, void* function)) {
  in_front.Neighbor_alltoallw = exchange_now;
  in_front.Ineighbor_alltoallw = begin_exchange;
  for (const sumac_call call : {SUMAC_CALL_Neighbor_alltoallw, SUMAC_CALL_Ineighbor_alltoallw}) {
    serve(call, entry_of(call));
  }
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/messages/alltoall_calls.h"

#include <climits>

#include "interpose/messages/packed_blocks.h"
#include "interpose/messages/packed_exchange.h"
#include "interpose/messages/point_to_point.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/process.h"

namespace sumac {
namespace {

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

}  // namespace sumac

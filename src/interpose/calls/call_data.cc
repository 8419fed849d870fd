// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/call_data.h"

#include "interpose/calls/perform.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_layout.h"
#include "progress/announced.h"

namespace sumac {

ChosenCall CallData::describe(const Call& call, const Decision& decision) {
  local_ = decision.way == Decision::Way::local;
  bytes_ = decision.bytes;
  // Persistent operations by single copy have only lines in their places, and no slots: see
  // own_ranks.cc.
  const bool has_slots = call.kind.form != Form::persistent;
  takes_ =
      local_ ? TakesGaps{true, true} : takes_gaps(info_of(decision.choice.algorithm), has_slots);
  const std::size_t slice = slice_of(call, decision);
  return {arguments_of(call, decision),
          call.collective(),
          decision.choice,
          decision.reduction ? decision.reduction->reduces : 0,
          slice,
          slice > 0 ? call.copies : nullptr};
}

CallArguments CallData::arguments_of(const Call& call, const Decision& decision) {
  switch (call.collective_info().arguments) {
    case ArgumentKind::bcast:
      return bcast(call, decision);
    case ArgumentKind::reduce_scatter:
      return reduce_scatter(call, decision);
    case ArgumentKind::allgather:
      return allgather(call, decision);
    case ArgumentKind::alltoall:
      return exchange(call, decision);
    case ArgumentKind::reduction:
      break;
  }
  if (!call.collective_info().has_data) return ReduceArguments();  // a barrier
  return reduction(call, decision);
}

ReduceArguments CallData::reduction(const Call& call, const Decision& decision) {
  ReduceArguments args = reduction_of(call, decision);
  const TypeInfo& type = decision.reduction->type;
  if (local_ || type.has_gaps()) [[unlikely]]
    copy_or_stage(type, args.output, args.count, call.comm);
  return args;
}

// Keeps the type of a local reduction, whose input is copied, or makes memory for a result that
// cannot be formed where it belongs. `count` is the number of elements of this rank's result.
void CallData::copy_or_stage(const TypeInfo& type, std::byte*& output, std::size_t count,
                             MpiComm comm) {
  if (local_) {
    copied_ = type;
  } else if (output && count > 0) {
    staged_.emplace(type, output, count, comm);
  } else {
    return;
  }
  has_copies_ = true;
}

BcastArguments CallData::bcast(const Call& call, const Decision& decision) {
  BcastArguments args{nullptr, bytes_, call.root, decision.choice.radix};
  if (local_) return args;
  packed_.emplace(TypedBuffer{call.receive, call.comm}, bytes_, use_sent(call));
  args.buffer = packed_->bytes();
  packs_ = decision.communicator->rank == call.root;
  has_copies_ = packed_->is_copy();
  return args;
}

ReduceScatterArguments CallData::reduce_scatter(const Call& call, const Decision& decision) {
  const Communicator& c = *decision.communicator;
  const TypeInfo& type = decision.reduction->type;
  const Blocks blocks(call, c.size);
  ReduceScatterArguments args;
  args.output = static_cast<std::byte*>(call.receive.address);
  args.input = call.send.address == kMpi.in_place
                   ? args.output
                   : static_cast<const std::byte*>(call.send.address);
  args.count = bytes_ / type.extent;
  args.element = type.extent;
  args.kernel = decision.reduction->kernel;
  args.radix = decision.choice.radix;
  if (blocks.listed()) parts_ = blocks.adjoining(type.extent);
  args.parts = {bytes_, c.size, 1, 0, parts_.get()};
  // In place the result belongs to the beginning of the vector, which is other ranks' input until
  // everything is folded; and what the call does not return stays the program's.
  const bool in_the_way = args.input == args.output && args.parts[c.rank].offset > 0;
  if (local_ || type.has_gaps() || in_the_way) [[unlikely]]
    copy_or_stage(type, args.output, static_cast<std::size_t>(blocks.count(c.rank)), call.comm);
  return args;
}

AllgatherArguments CallData::allgather(const Call& call, const Decision& decision) {
  const Communicator& c = *decision.communicator;
  AllgatherArguments args;
  args.radix = decision.choice.radix;
  if (bytes_ == 0) return args;
  describe_result(args, call, decision);
  const Part own = args.parts[c.rank];
  args.input = args.output + own.offset;
  // In place the rank's part is where the output has it, unless it must lie contiguous.
  const bool in_place = call.send.address == kMpi.in_place;
  const bool is_there = in_place && !(gathered_ && (gathered_->is_copy() || !takes_.sent));
  if (own.bytes > 0 && !is_there) {
    packed_.emplace(TypedBuffer{own_data(call, c.rank, c.size), call.comm}, own.bytes,
                    use_sent(call));
    args.input = packed_->bytes();
  }
  packs_ = packed_ && packed_->is_copy();
  has_copies_ = packs_ || (gathered_ && gathered_->is_copy()) || local_;
  return args;
}

// Parts are received into their places, or one behind the other and unpacked in the end.
void CallData::describe_result(AllgatherArguments& args, const Call& call,
                               const Decision& decision) {
  const Data& data = call.receive;
  const int ranks = decision.communicator->size;
  const std::size_t element = decision.element;
  const Blocks blocks(call, ranks);
  auto* output = static_cast<std::byte*>(data.address);
  if (lies_packed(data.type)) {
    if (blocks.listed()) {
      output += blocks.first_place() * static_cast<MpiAint>(element);
      parts_ = blocks.at_places(element);
    }
  } else if (blocks.listed()) {
    gather_listed(call, blocks, element);
  } else {
    gathered_.emplace(TypedBuffer{{data.address, data.count * ranks, data.type}, call.comm}, bytes_,
                      use_received(call));
  }
  args.output = gathered_ ? gathered_->bytes() : Bytes(output);
  args.parts = {bytes_, ranks, 1, 0, parts_.get()};
}

// Describes the parts, at their places, of a type that does not lie packed.
void CallData::gather_listed(const Call& call, const Blocks& blocks, std::size_t element) {
  const Data& data = call.receive;
  MpiAint extent = 0;
  parts_ = blocks.adjoining(element);
  const DataLayout* layout = use_packing(data.type, call.comm, bytes_, extent);
  if (layout) {
    gathered_.emplace(blocks.layout(*layout, extent), data.address, call.comm, use_received(call));
    return;
  }
  MpiAint lower = 0;
  mpi.Type_get_extent(data.type, &lower, &extent);
  MpiDatatype all = blocks.make_type(extent);
  gathered_.emplace(TypedBuffer{{data.address, 1, all}, call.comm}, bytes_,
                    PackedBuffer::Use{false, true});
  mpi.Type_free(one(all));
}

AlltoallArguments CallData::exchange(const Call& call, const Decision& decision) {
  const int ranks = decision.communicator->size;
  AlltoallArguments args;
  if (local_ && bytes_ == 0) return args;
  if (has_equal_packed_blocks(call)) {
    const Parts blocks{bytes_, ranks, 1, 0, nullptr};
    args = {static_cast<const std::byte*>(call.send.address),
            static_cast<std::byte*>(call.receive.address), blocks, blocks};
  } else {
    exchange_ = std::make_unique<ExchangeData>(call, ranks, takes_, args);
  }
  has_copies_ = exchange_ || local_;
  return args;
}

void CallData::load_copies(const ChosenCall& described) {
  const Collective collective = described.collective;
  if (packs_) packed_->load();
  const ArgumentKind arguments = info_of(collective).arguments;
  if (local_ && arguments == ArgumentKind::allgather) described.allgather.keep_own(0);
  if (exchange_) exchange_->pack();
  if (local_ && arguments == ArgumentKind::alltoall) described.alltoall.keep_own(0);
  if (!copied_ || bytes_ == 0) return;
  const ReduceArguments& args =
      collective == Collective::reduce_scatter ? described.reduce_scatter : described.reduction;
  if (args.output && args.input != args.output) {
    copy_elements(*copied_, args.output, args.input, args.count);
  }
}

void CallData::deliver_copies() {
  if (gathered_) gathered_->deliver();
  if (exchange_) exchange_->unpack();
  if (packed_ && !packs_) packed_->deliver();
  if (staged_) staged_->deliver();
}

void CallData::free() {
  has_copies_ = packs_ = false;
  copied_.reset();
  packed_.reset();
  gathered_.reset();
  parts_.reset();
  exchange_.reset();
  staged_.reset();
}

}  // namespace sumac

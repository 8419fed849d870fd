// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/exchange.h"

#include <climits>
#include <cstdint>
#include <new>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_use.h"
#include "interpose/process/process.h"
#include "observe/log.h"

namespace sumac {

bool ExchangeSide::is_given() const {
  return !listed() || (counts() && places() && (types() || !has_types()));
}

MPI_Count ExchangeSide::count(int rank) const {
  if (!listed()) return data().count;
  if (call_.kind.large) return static_cast<const MPI_Count*>(counts())[rank];
  return static_cast<const int*>(counts())[rank];
}

MPI_Datatype ExchangeSide::type(int rank) const {
  return has_types() ? types()[rank] : data().type;
}

std::size_t ExchangeSide::bytes(int rank) const {
  std::size_t element = 0;
  if (count(rank) == 0 || !packed_size(type(rank), element)) return 0;
  return element * static_cast<std::size_t>(count(rank));
}

MPI_Aint ExchangeSide::place(int rank) const {
  if (!listed()) return static_cast<MPI_Aint>(data().count) * rank;
  if (call_.kind.large) return static_cast<const MPI_Aint*>(places())[rank];
  return static_cast<const int*>(places())[rank];
}

Data ExchangeSide::block(int rank) const {
  const Data block{data().address, count(rank), type(rank)};
  MPI_Aint lower = 0, extent = 1;
  if (!has_types()) mpi.Type_get_extent(block.type, &lower, &extent);
  // Not a pointer's arithmetic: the address may be MPI_BOTTOM.
  const auto at = reinterpret_cast<std::uintptr_t>(block.address) +
                  static_cast<std::uintptr_t>(place(rank) * extent);
  return {reinterpret_cast<void*>(at), block.count, block.type};
}

bool has_equal_packed_blocks(const Call& call) {
  return call.kind.function == Function::alltoall && !is_in_place(call) &&
         lies_packed(call.send.type) && lies_packed(call.receive.type);
}

ExchangeData::ExchangeData(const Call& call, int ranks, const PackedBuffer::Use& use,
                           AlltoallArguments& args)
    : use_(use) {
  if (call.kind.function == Function::alltoall) {
    Bytes input, output;
    args.sent = add_equal(call, true, ranks, input);
    args.received = add_equal(call, false, ranks, output);
    args.input = input;
    args.output = output;
    return;
  }
  // Offsets of listed blocks are addresses.
  use_.in_ranges = false;
  args.sent = add_listed(call, true, ranks);
  args.received = add_listed(call, false, ranks);
  scratch_.resize(static_cast<std::size_t>(ranks));
  args.blocks = scratch_.data();
}

// The packed bytes, which are copied where that is necessary.
Bytes ExchangeData::add(const Call& call, bool sends, const Data& data, std::size_t bytes) {
  const std::size_t element = bytes / static_cast<std::size_t>(data.count);
  MPI_Aint extent = 0;
  // MPI_Pack counts bytes in an int. What the others have is not known, so it cannot be agreed that
  // the call is the MPI's.
  if (element > INT_MAX && !lies_packed(data.type) &&
      !use_packing(data.type, call.comm, bytes, extent)) {
    log_here("error[large-element]: an element of %zu bytes with gaps, in MPI_%s; ending the job",
             element, info_of(call.collective()).mpi_name);
    end_job(call.comm);
  }
  Side& side = (sends ? sent_ : received_).emplace_back(TypedBuffer{data, call.comm}, bytes, use_);
  if (!sends || !is_in_place(call) || side.buffer.is_copy()) return side.buffer.bytes();
  side.copy.reset(new (std::nothrow) std::byte[bytes]);
  if (!side.copy) {
    log_here("error[no-memory]: no memory to copy %zu bytes; ending the job", bytes);
    end_job(call.comm);
  }
  return side.copy.get();
}

Parts ExchangeData::add_equal(const Call& call, bool sends, int ranks, Bytes& at) {
  const ExchangeSide side(call, sends);
  Data all = side.data();
  all.count *= ranks;
  const std::size_t bytes = side.bytes(0) * static_cast<std::size_t>(ranks);
  at = add(call, sends, all, bytes);
  return {bytes, ranks, 1, 0, nullptr};
}

Parts ExchangeData::add_listed(const Call& call, bool sends, int ranks) {
  const ExchangeSide side(call, sends);
  std::vector<Part>& blocks = listed_[sends];
  std::size_t total = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::size_t bytes = side.bytes(r);
    const Bytes at = bytes > 0 ? add(call, sends, side.block(r), bytes) : Bytes();
    blocks.push_back({reinterpret_cast<std::uintptr_t>(at.at()), bytes});
    total += bytes;
  }
  return {total, ranks, 1, 0, blocks.data()};
}

void ExchangeData::pack() {
  for (Side& side : sent_) {
    side.buffer.load();
    if (side.copy) side.buffer.bytes().copy_to(side.copy.get(), side.size);
  }
}

void ExchangeData::unpack() {
  for (Side& side : received_) side.buffer.deliver();
}

}  // namespace sumac

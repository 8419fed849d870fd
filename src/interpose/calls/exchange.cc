// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/exchange.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <new>

#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_layout.h"
#include "interpose/mpi/world.h"
#include "interpose/process/process.h"
#include "observe/log.h"

namespace sumac {

bool ExchangeSide::is_given() const {
  return !listed() || (counts() && places() && (types() || !has_types()));
}

MpiCount ExchangeSide::count(int rank) const {
  if (!listed()) return data().count;
  if (call_.kind.large) return static_cast<const MpiCount*>(counts())[rank];
  return static_cast<const int*>(counts())[rank];
}

MpiDatatype ExchangeSide::type(int rank) const { return has_types() ? types()[rank] : data().type; }

std::size_t ExchangeSide::bytes(int rank) const {
  std::size_t element = 0;
  if (count(rank) == 0 || !packed_size(type(rank), element)) return 0;
  return element * static_cast<std::size_t>(count(rank));
}

MpiAint ExchangeSide::place(int rank) const {
  if (!listed()) return static_cast<MpiAint>(data().count) * rank;
  if (call_.kind.large) return static_cast<const MpiAint*>(places())[rank];
  return static_cast<const int*>(places())[rank];
}

Data ExchangeSide::block(int rank) const {
  const Data block{data().address, count(rank), type(rank)};
  MpiAint lower = 0, extent = 1;
  if (!has_types()) mpi.Type_get_extent(block.type, &lower, &extent);
  // This is no pointer arithmetic, because the address may be MPI_BOTTOM.
  const auto at = reinterpret_cast<std::uintptr_t>(block.address) +
                  static_cast<std::uintptr_t>(place(rank) * extent);
  return {reinterpret_cast<void*>(at), block.count, block.type};
}

bool has_equal_packed_blocks(const Call& call) {
  return call.kind.function == Function::alltoall && !is_in_place(call) &&
         lies_packed(call.send.type) && lies_packed(call.receive.type);
}

void BlockList::add(const Bytes& block, std::size_t bytes) {
  all_contiguous_ &= block.contiguous();
  blocks_.push_back({block, (blocks_.empty() ? 0 : blocks_.back().end) + bytes});
}

// Calls step(bytes of a block, done, some) for the blocks of a range.
template <class Step>
void BlockList::in_blocks(std::size_t offset, std::size_t bytes, Step step) const {
  auto block =
      std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                       [](std::size_t at, const Block& listed) { return at < listed.end; });
  for (std::size_t done = 0; done < bytes; ++block) {
    const std::size_t begin = block == blocks_.begin() ? 0 : (block - 1)->end;
    const std::size_t some = std::min(bytes - done, block->end - (offset + done));
    step(block->at + (offset + done - begin), done, some);
    done += some;
  }
}

void BlockList::pack(std::size_t offset, std::size_t bytes, std::byte* to) const {
  in_blocks(offset, bytes, [&](const Bytes& from, std::size_t done, std::size_t some) {
    from.copy_to(to + done, some);
  });
}

void BlockList::unpack(std::size_t offset, std::size_t bytes, const std::byte* from) const {
  in_blocks(offset, bytes, [&](const Bytes& to, std::size_t done, std::size_t some) {
    to.copy_from(from + done, some);
  });
}

ExchangeData::ExchangeData(const Call& call, int ranks, TakesGaps takes, AlltoallArguments& args)
    : takes_(takes) {
  const bool listed = call.kind.function != Function::alltoall;
  const auto add = listed ? &ExchangeData::add_listed : &ExchangeData::add_equal;
  Bytes input, output;
  args.sent = (this->*add)(call, true, ranks, input);
  args.received = (this->*add)(call, false, ranks, output);
  args.input = input;
  args.output = output;
  if (!listed) return;
  scratch_.resize(static_cast<std::size_t>(ranks));
  args.blocks = scratch_.data();
}

// Returns the packed bytes, which are copied if that is necessary.
Bytes ExchangeData::add(const Call& call, bool sends, const Data& data, std::size_t bytes) {
  const std::size_t element = bytes / static_cast<std::size_t>(data.count);
  MpiAint extent = 0;
  // MPI_Pack counts bytes in an int. This rank does not know what the others have, so they cannot
  // agree that the call is the MPI's.
  if (element > INT_MAX && !lies_packed(data.type) &&
      !use_packing(data.type, call.comm, bytes, extent)) {
    log_error("error[large-element]: an element of %zu bytes with gaps, in MPI_%s; ending the job",
              element, call.collective_info().mpi_name);
    end_job(call.comm);
  }
  const PackedBuffer::Use use{sends ? takes_.sent : takes_.received, call.is_deferred()};
  Side& side = (sends ? sent_ : received_).emplace_back(TypedBuffer{data, call.comm}, bytes, use);
  if (!sends || !is_in_place(call) || side.buffer.is_copy()) return side.buffer.bytes();
  side.copy.reset(new (std::nothrow) std::byte[bytes]);
  if (!side.copy) {
    log_error("error[no-memory]: no memory to copy %zu bytes; ending the job", bytes);
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

// Offsets are addresses if no block has gaps.
Parts ExchangeData::add_listed(const Call& call, bool sends, int ranks, Bytes& at) {
  const ExchangeSide side(call, sends);
  std::vector<Part>& parts = listed_[sends];
  BlockList& blocks = blocks_[sends];
  std::size_t total = 0;
  for (int r = 0; r < ranks; ++r) {
    const std::size_t bytes = side.bytes(r);
    blocks.add(bytes > 0 ? add(call, sends, side.block(r), bytes) : Bytes(), bytes);
    parts.push_back({total, bytes});
    total += bytes;
  }
  if (!blocks.all_contiguous()) {
    at = Bytes(&blocks, 0);
    return {total, ranks, 1, 0, parts.data()};
  }
  for (std::size_t r = 0; r < parts.size(); ++r) {
    parts[r].offset = reinterpret_cast<std::uintptr_t>(blocks.block(r).at());
  }
  return {total, ranks, 1, 0, parts.data()};
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

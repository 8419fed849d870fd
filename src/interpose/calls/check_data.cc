// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/check.h"

#include <sys/mman.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/cpu.h"
#include "interpose/calls/blocks.h"
#include "interpose/calls/exchange.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "interpose/process/process.h"
#include "observe/log.h"

namespace sumac {
namespace {

constexpr std::size_t kLeastMapped = 1 << 20;
constexpr std::size_t kPackedBytes = 1 << 20;  // bytes packed at a time

std::vector<Data> blocks_of(const Call& call, bool sends, int ranks) {
  const ExchangeSide side(call, sends);
  std::vector<Data> blocks;
  for (int r = 0; r < ranks; ++r) {
    if (side.count(r) > 0) blocks.push_back(side.block(r));
  }
  return blocks;
}

std::vector<Data> gathered(const Call& call, int ranks) {
  const Data& data = call.receive;
  const Blocks blocks(call, ranks);
  if (!blocks.listed()) return {{data.address, data.count * ranks, data.type}};
  MpiAint lower = 0, extent = 0;
  mpi.Type_get_extent(data.type, &lower, &extent);
  std::vector<Data> parts;
  for (int r = 0; r < ranks; ++r) {
    parts.push_back(moved({data.address, blocks.count(r), data.type}, blocks.place(r) * extent));
  }
  return parts;
}

bool is_alias(const Call& call) { return call.send.address == call.receive.address; }

// This is the range of bytes between the first and the last that the data touch.
struct Extent {
  std::uintptr_t low = UINTPTR_MAX, high = 0;

  void add(const Data& data) {
    if (data.count == 0) return;
    MpiAint lower = 0, extent = 0, first = 0, bytes = 0;
    mpi.Type_get_extent(data.type, &lower, &extent);
    mpi.Type_get_true_extent(data.type, &first, &bytes);
    if (bytes == 0) return;
    const auto begin =
        reinterpret_cast<std::uintptr_t>(data.address) + static_cast<std::uintptr_t>(first);
    const std::uintptr_t last = begin + static_cast<std::uintptr_t>((data.count - 1) * extent);
    low = std::min({low, begin, last});
    high = std::max({high, begin + static_cast<std::uintptr_t>(bytes),
                     last + static_cast<std::uintptr_t>(bytes)});
  }
};

}  // namespace

Data moved(const Data& data, std::ptrdiff_t by) {
  // This is no pointer arithmetic, because the address may be MPI_BOTTOM.
  const auto at = reinterpret_cast<std::uintptr_t>(data.address) + static_cast<std::uintptr_t>(by);
  return {reinterpret_cast<void*>(at), data.count, data.type};
}

std::vector<Data> inputs_of(const Call& call, int rank, int ranks) {
  const bool in_place = call.send.address == kMpi.in_place;
  const Data whole = {in_place ? call.receive.address : call.send.address, call.receive.count,
                      call.receive.type};
  const CollectiveInfo& info = call.collective_info();
  MpiCount elements = 0;
  switch (info.arguments) {
    case ArgumentKind::reduction:
      if (info.has_data) return {whole};
      break;
    case ArgumentKind::bcast:
      if (rank == call.root) return {call.receive};
      break;
    case ArgumentKind::reduce_scatter:
      Blocks(call, ranks).total(elements);
      return {{whole.address, elements, whole.type}};
    case ArgumentKind::allgather:
      return {own_data(call, rank, ranks)};
    case ArgumentKind::alltoall:
      return blocks_of(call, true, ranks);
  }
  return {};
}

std::vector<Data> results_of(const Call& call, int rank, int ranks) {
  if (!gets_result(call.collective(), rank, call.root)) return {};
  switch (call.collective_info().arguments) {
    case ArgumentKind::reduction:
    case ArgumentKind::bcast:
      return {call.receive};
    case ArgumentKind::reduce_scatter:
      return {{call.receive.address, Blocks(call, ranks).count(rank), call.receive.type}};
    case ArgumentKind::allgather:
      return gathered(call, ranks);
    case ArgumentKind::alltoall:
      return blocks_of(call, false, ranks);
  }
  return {};
}

bool reads_receive_buffer(const Call& call, int rank) {
  const ArgumentKind arguments = call.collective_info().arguments;
  if (arguments == ArgumentKind::bcast) return rank == call.root;
  if (!gets_result(call.collective(), rank, call.root)) return false;
  const bool in_place = call.send.address == kMpi.in_place;
  return in_place || (arguments != ArgumentKind::allgather && is_alias(call));
}

ShadowBuffer::ShadowBuffer(const std::vector<Data>& first, const std::vector<Data>& second,
                           MpiComm comm) {
  Extent extent;
  for (const Data& data : first) extent.add(data);
  for (const Data& data : second) extent.add(data);
  if (extent.high == 0) return;
  // The memory has the same alignment as the program's.
  bytes_ = extent.high - extent.low + 2 * kCacheLine;
  mapped_ = bytes_ >= kLeastMapped;
  if (mapped_) {
    void* const pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
  } else {
    memory_ = static_cast<std::byte*>(std::malloc(bytes_));
  }
  if (!memory_) {
    log_error(
        "error[no-memory]: SUMAC_CHECK has no memory for a second result of %zu bytes; "
        "ending the job",
        bytes_);
    end_job(comm);
    return;
  }
  const auto begin = round_up(reinterpret_cast<std::uintptr_t>(memory_), kCacheLine);
  shift_ = static_cast<std::ptrdiff_t>(begin + extent.low % kCacheLine - extent.low);
}

ShadowBuffer::~ShadowBuffer() {
  if (mapped_) {
    munmap(memory_, bytes_);
  } else {
    std::free(memory_);
  }
}

TypedBytes::TypedBytes(const Data& data, MpiComm comm) : data_(data), comm_(comm) {
  packed_size(data.type, element_);
  dense_ = lies_packed(data.type);
  MpiAint lower = 0;
  mpi.Type_get_extent(data.type, &lower, &extent_);
  if (dense_) return;
  if (element_ > 0 && element_ <= INT_MAX)
    most_ = std::max<std::size_t>(kPackedBytes / element_, 1);
  if (data.address || most_ == 0) return;
  // MPICH's pack and unpack refuse a null address, which is MPI_BOTTOM.
  static char anchor;
  const int length = 1;
  const MpiAint zero = -reinterpret_cast<MpiAint>(&anchor);
  mpi.Type_create_hindexed(1, &length, &zero, data.type, one(data_.type));
  mpi.Type_commit(one(data_.type));
  data_.address = &anchor;
  owns_type_ = true;
}

TypedBytes::~TypedBytes() {
  if (owns_type_) mpi.Type_free(one(data_.type));
}

std::size_t TypedBytes::next(const std::byte*& bytes) {
  const auto left = static_cast<std::size_t>(data_.count - done_);
  if (left == 0 || element_ == 0 || !is_readable()) return 0;
  if (dense_) {
    done_ = data_.count;
    bytes = static_cast<const std::byte*>(data_.address);
    return left * element_;
  }
  if (!packed_) packed_.reset(new std::byte[most_ * element_]);
  const std::size_t count = std::min(left, most_);
  const int size = static_cast<int>(most_ * element_);
  int position = 0;
  const Data from = moved(data_, static_cast<std::ptrdiff_t>(done_) * extent_);
  mpi.Pack(from.address, static_cast<int>(count), data_.type, packed_.get(), size, &position,
           comm_);
  done_ += static_cast<MpiCount>(count);
  bytes = packed_.get();
  return count * element_;
}

void TypedBytes::put(const std::byte* bytes, std::size_t size) {
  const Data to = moved(data_, static_cast<std::ptrdiff_t>(done_) * extent_);
  const std::size_t count = size / element_;
  done_ += static_cast<MpiCount>(count);
  if (dense_) {
    std::memcpy(to.address, bytes, size);
    return;
  }
  int position = 0;
  mpi.Unpack(bytes, static_cast<int>(size), &position, to.address, static_cast<int>(count),
             data_.type, comm_);
}

void copy_data(const Data& from, const Data& to, MpiComm comm) {
  TypedBytes source(from, comm), target(to, comm);
  const std::byte* bytes = nullptr;
  while (const std::size_t size = source.next(bytes)) target.put(bytes, size);
}

}  // namespace sumac

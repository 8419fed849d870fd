// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/packing.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "algorithms/in_pieces.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_layout.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

namespace sumac {
namespace {

// Calls step(first element's address, count, packed place, packed bytes) for runs of elements whose
// packed size fits an int.
template <class Byte, class Step>
void in_parts(const TypedBuffer& buffer, std::size_t bytes, Byte* packed, Step step) {
  MpiAint lower = 0, extent = 0;
  mpi.Type_get_extent(buffer.type, &lower, &extent);
  const std::size_t element = bytes / static_cast<std::size_t>(buffer.count);
  const MpiCount most = std::max<MpiCount>(1, INT_MAX / static_cast<MpiCount>(element));
  auto* place = static_cast<char*>(buffer.address);
  for (MpiCount left = buffer.count; left > 0;) {
    const int part = static_cast<int>(std::min(left, most));
    const std::size_t size = element * static_cast<std::size_t>(part);
    step(place, part, packed, static_cast<int>(size));
    place += part * extent;
    packed += size;
    left -= part;
  }
}

void pack_by_mpi(const TypedBuffer& buffer, std::size_t bytes, std::byte* packed) {
  in_parts(buffer, bytes, packed, [&](void* place, int count, std::byte* to, int size) {
    int position = 0;
    mpi.Pack(place, count, buffer.type, to, size, &position, buffer.comm);
  });
}

void unpack_by_mpi(const TypedBuffer& buffer, std::size_t bytes, const std::byte* packed) {
  in_parts(buffer, bytes, packed, [&](void* place, int count, const std::byte* from, int size) {
    int position = 0;
    mpi.Unpack(from, size, &position, place, count, buffer.type, buffer.comm);
  });
}

LaidOut elements_of(const Data& data, const DataLayout& layout, MpiAint extent) {
  return {layout, static_cast<std::size_t>(data.count), extent,
          static_cast<std::byte*>(data.address)};
}

}  // namespace

int check_type(MpiDatatype type, MpiComm comm) {
  if (find_known_type(type) || type == kMpi.datatype_null) return kMpiSuccess;
  char nothing = 0;
  int position = 0;
  return mpi.Pack(&nothing, 0, type, &nothing, 1, &position, comm);
}

void pack_elements(const TypedBuffer& buffer, std::size_t bytes, std::byte* packed) {
  MpiAint extent = 0;
  const DataLayout* layout = use_packing(buffer.type, buffer.comm, bytes, extent);
  if (!layout) return pack_by_mpi(buffer, bytes, packed);
  pack_all(elements_of(buffer, *layout, extent), packed);
}

void unpack_elements(const TypedBuffer& buffer, std::size_t bytes, const std::byte* packed) {
  MpiAint extent = 0;
  const DataLayout* layout = use_packing(buffer.type, buffer.comm, bytes, extent);
  if (!layout) return unpack_by_mpi(buffer, bytes, packed);
  unpack_all(elements_of(buffer, *layout, extent), packed);
}

void pack_all(const LaidOut& elements, std::byte* to) {
  in_pieces(to, elements.bytes(), 1, [&](std::size_t first, std::size_t bytes) {
    pack(elements, first, bytes, to + first);
  });
}

void unpack_all(const LaidOut& elements, const std::byte* from) {
  in_pieces(from, elements.bytes(), 1, [&](std::size_t first, std::size_t bytes) {
    unpack(elements, first, bytes, from + first);
  });
}

PackedBuffer::PackedBuffer(const TypedBuffer& buffer, std::size_t bytes, const Use& use)
    : buffer_(buffer), bytes_(bytes) {
  if (lies_packed(buffer.type)) {
    data_ = static_cast<std::byte*>(buffer.address);
    return;
  }
  const DataLayout* layout = use_packing(buffer.type, buffer.comm, bytes, extent_);
  if (layout) layout_ = *layout;
  if (!layout || !use.in_ranges) make_copy(use.outlives);
}

PackedBuffer::PackedBuffer(const DataLayout& layout, void* address, MpiComm comm, const Use& use)
    : buffer_{{address, 1, kMpi.datatype_null}, comm}, bytes_(layout.bytes()), layout_(layout) {
  if (!use.in_ranges) make_copy(use.outlives);
}

void PackedBuffer::make_copy(bool outlives) {
  own_ = true;
  if (!has_layout() && !buffer_.address) rebase();
  if (!has_layout() && outlives) keep_handles();
  data_ = static_cast<std::byte*>(std::malloc(bytes_));
  if (data_) return;
  log_error("error[no-memory]: no memory to pack %zu bytes; ending the job", bytes_);
  end_job(buffer_.comm);
}

PackedBuffer::~PackedBuffer() {
  if (own_) std::free(data_);
  if (owns_type_) mpi.Type_free(one(buffer_.type));
}

void PackedBuffer::rebase() {
  static char anchor;
  const int length = 1;
  const MpiAint zero = -reinterpret_cast<MpiAint>(&anchor);
  mpi.Type_create_hindexed(1, &length, &zero, buffer_.type, one(buffer_.type));
  mpi.Type_commit(one(buffer_.type));
  buffer_.address = &anchor;
  owns_type_ = true;
}

void PackedBuffer::keep_handles() {
  if (!owns_type_) mpi.Type_dup(buffer_.type, one(buffer_.type));
  owns_type_ = true;
  // Any communicator will do for packing and unpacking; without the world there may be no other.
  int initialized = 0;
  mpi.Initialized(&initialized);
  if (initialized) buffer_.comm = kMpi.comm_self;
}

void PackedBuffer::load() {
  if (!own_) return;
  if (!has_layout()) return pack_by_mpi(buffer_, bytes_, data_);
  pack_all(elements(), data_);
}

void PackedBuffer::deliver() {
  if (!own_) return;
  if (!has_layout()) return unpack_by_mpi(buffer_, bytes_, data_);
  unpack_all(elements(), data_);
}

LaidOut PackedBuffer::elements() const { return elements_of(buffer_, layout_, extent_); }

void PackedBuffer::pack(std::size_t offset, std::size_t bytes, std::byte* to) const {
  sumac::pack(elements(), offset, bytes, to);
}

void PackedBuffer::unpack(std::size_t offset, std::size_t bytes, const std::byte* from) const {
  sumac::unpack(elements(), offset, bytes, from);
}

}  // namespace sumac

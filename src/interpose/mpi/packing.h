// SPDX-License-Identifier: BSD-3-Clause
// Buffers of any datatype become packed bytes. Ranks may describe the same message by different
// types, so nothing collective depends on how a rank's own type lies in memory.
#pragma once

#include <cstddef>

#include "algorithms/bytes.h"
#include "interpose/mpi/call.h"
#include "interpose/mpi/constants.h"
#include "layout/mover.h"

namespace sumac {

struct TypedBuffer : Data {
  MpiComm comm;  // its error handler is called
};

// Asks the MPI whether a derived type is valid and committed. Returns MPI_SUCCESS, or the MPI's
// error, after the communicator's error handler was told. MPI_DATATYPE_NULL passes.
int check_type(MpiDatatype type, MpiComm comm);

// Packs or unpacks a buffer of at least one element of derived type, which has `bytes` packed
// bytes: by the type's layout if it is known, otherwise by the MPI.
void pack_elements(const TypedBuffer& buffer, std::size_t bytes, std::byte* packed);
void unpack_elements(const TypedBuffer& buffer, std::size_t bytes, const std::byte* packed);

// Packs or unpacks all of the elements. Several threads share much data, as far as this thread may
// use others (UseThreads).
void pack_all(const LaidOut& elements, std::byte* to);
void unpack_all(const LaidOut& elements, const std::byte* from);

// These are the packed bytes of a buffer for one operation, in one of three ways: the buffer
// itself, if its type lies packed; its layout, by which an algorithm copies any range as it needs
// it; or a copy of all bytes, for algorithms that take contiguous data only and types whose layout
// is not known. The job ends if there is no memory for a copy, since the other ranks wait for this
// one.
class PackedBuffer final : public ByteLayout {
 public:
  struct Use {
    bool in_ranges = false;  // the algorithm takes data with a layout
    bool outlives = false;   // type and communicator may be freed before this object
  };
  PackedBuffer(const TypedBuffer& buffer, std::size_t bytes, const Use& use);
  // Describes data with this layout.
  PackedBuffer(const DataLayout& layout, void* address, MpiComm comm, const Use& use);
  ~PackedBuffer();
  PackedBuffer(const PackedBuffer&) = delete;
  PackedBuffer& operator=(const PackedBuffer&) = delete;

  Bytes bytes() const { return data_ ? Bytes(data_) : Bytes(this, 0); }
  bool is_copy() const { return own_; }
  void load();     // buffer -> copy, if there is one
  void deliver();  // copy -> buffer

  void pack(std::size_t offset, std::size_t bytes, std::byte* to) const override;
  void unpack(std::size_t offset, std::size_t bytes, const std::byte* from) const override;

 private:
  void make_copy(bool outlives);
  bool has_layout() const { return layout_.node != nullptr; }
  // MPICH's pack and unpack refuse a null address, which is MPI_BOTTOM. This makes another type
  // with the same places, relative to an address of our own.
  void rebase();
  void keep_handles();
  LaidOut elements() const;

  TypedBuffer buffer_{};
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;  // contiguous, in the buffer or a copy
  DataLayout layout_;
  MpiAint extent_ = 0;  // set if there is a layout
  bool own_ = false;
  bool owns_type_ = false;
};

}  // namespace sumac

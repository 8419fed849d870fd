// SPDX-License-Identifier: BSD-3-Clause
// Buffers of any datatype as packed bytes. Ranks may describe the same message by different types,
// so nothing collective depends on how a rank's own type lies in memory.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interpose/calls/call.h"

namespace sumac {

struct TypedBuffer : Data {
  MPI_Comm comm;  // whose error handler is called
};

// Asks the MPI whether a derived type is valid and committed: MPI_SUCCESS, or the MPI's error, of
// which the communicator's error handler has been told. MPI_DATATYPE_NULL passes.
int check_type(MPI_Datatype type, MPI_Comm comm);

// Packs or unpacks a buffer of at least one element of derived type, which has `bytes` packed
// bytes.
void pack_elements(const TypedBuffer& buffer, std::size_t bytes, std::byte* packed);
void unpack_elements(const TypedBuffer& buffer, std::size_t bytes, const std::byte* packed);

// The packed bytes of `buffer` for one operation: the buffer itself where its type lies packed and
// it is not to be `copied`, else a copy. Ends the job when there is no memory for it, since the
// other ranks wait for this one.
class PackedBuffer {
 public:
  // With `outlives`, type and communicator may be freed before this object.
  PackedBuffer(const TypedBuffer& buffer, std::size_t bytes, bool outlives = false,
               bool copied = false);
  ~PackedBuffer();
  PackedBuffer(const PackedBuffer&) = delete;
  PackedBuffer& operator=(const PackedBuffer&) = delete;

  bool is_copy() const { return own_; }
  std::byte* data() const { return data_; }
  void pack();    // buffer -> data()
  void unpack();  // data() -> buffer

 private:
  // MPICH's pack and unpack refuse a null address, which is MPI_BOTTOM. Makes another type with the
  // same places, relative to an address of our own.
  void rebase();
  void keep_handles();

  TypedBuffer buffer_;
  std::size_t bytes_;
  std::byte* data_;
  bool own_;
  bool owns_type_ = false;
};

}  // namespace sumac

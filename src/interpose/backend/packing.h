// SPDX-License-Identifier: BSD-3-Clause
// Buffers of any datatype as packed bytes. How a rank's own type lies in memory is its own affair:
// ranks may describe the same message by different types, so nothing collective depends on it.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "interpose/backend/call.h"

namespace sumac {

struct TypedBuffer : Data {
  MPI_Comm comm;  // whose error handler is called
};

// Whether the type, if derived, is one and committed, which only the MPI knows: MPI_SUCCESS, or its
// error, of which the communicator's error handler has been told. MPI_DATATYPE_NULL passes.
int check_type(MPI_Datatype type, MPI_Comm comm);

// Between a buffer of at least one element of derived type and its `bytes` packed bytes.
void pack_elements(const TypedBuffer& buffer, std::size_t bytes, std::byte* packed);
void unpack_elements(const TypedBuffer& buffer, std::size_t bytes, const std::byte* packed);

// The packed bytes of `buffer` for the time of one operation: the buffer itself where its type lies
// packed, else a copy. Ends the job when there is no memory for it: the other ranks count on us.
class PackedBuffer {
 public:
  // With `outlives`, type and communicator may be freed before this is.
  PackedBuffer(const TypedBuffer& buffer, std::size_t bytes, bool outlives = false);
  ~PackedBuffer();
  PackedBuffer(const PackedBuffer&) = delete;
  PackedBuffer& operator=(const PackedBuffer&) = delete;

  bool is_copy() const { return own_; }
  std::byte* data() const { return data_; }
  void pack();    // buffer -> data()
  void unpack();  // data() -> buffer

 private:
  // MPICH's pack and unpack refuse a null address, which is MPI_BOTTOM. Makes another type of it:
  // the same places, seen from an address of our own.
  void rebase();
  void keep_handles();

  TypedBuffer buffer_;
  std::size_t bytes_;
  std::byte* data_;
  bool own_;
  bool owns_type_ = false;
};

}  // namespace sumac

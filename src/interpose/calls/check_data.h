// SPDX-License-Identifier: BSD-3-Clause
// These are the buffers of a call that is done twice: the data that a rank gives and gets, as lists
// of typed data, and memory for a second result. The MPI alone packs types here, so that Sumac's
// own packing is checked too.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "interpose/mpi/call.h"

namespace sumac {

// Return, for a call that Sumac serves, what this rank gives, and where its result goes.
std::vector<Data> inputs_of(const Call& call, int rank, int ranks);
std::vector<Data> results_of(const Call& call, int rank, int ranks);
// Returns true if the MPI reads the receive buffer before it writes there.
bool reads_receive_buffer(const Call& call, int rank);

Data moved(const Data& data, std::ptrdiff_t by);

// This memory is laid out as the program's memory that the data are in, gaps and all; only what is
// touched takes up memory. The job ends if there is none, since the other ranks go on with the
// call.
class ShadowBuffer {
 public:
  ShadowBuffer(const std::vector<Data>& first, const std::vector<Data>& second, MpiComm comm);
  ~ShadowBuffer();
  ShadowBuffer(const ShadowBuffer&) = delete;
  ShadowBuffer& operator=(const ShadowBuffer&) = delete;

  // Returns the distance in bytes from an address of the program's to the shadow's.
  std::ptrdiff_t shift() const { return shift_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  bool mapped_ = false;
  std::ptrdiff_t shift_ = 0;
};

// This gives typed data as packed bytes, some elements at a time.
class TypedBytes {
 public:
  // Errors are told to the error handler of `comm`.
  TypedBytes(const Data& data, MpiComm comm);
  ~TypedBytes();
  TypedBytes(const TypedBytes&) = delete;
  TypedBytes& operator=(const TypedBytes&) = delete;

  // Returns false if an element is too large for the MPI to pack.
  bool is_readable() const { return dense_ || most_ > 0; }
  std::size_t element() const { return element_; }
  // Finds the packed bytes of the next elements, and returns their number; 0 at the end. The number
  // is the same for the same type and count.
  std::size_t next(const std::byte*& bytes);
  // Writes what the same call of next() on another buffer has given.
  void put(const std::byte* bytes, std::size_t count);

 private:
  Data data_;
  MpiComm comm_;
  bool dense_ = false, owns_type_ = false;
  std::size_t element_ = 0, most_ = 0;  // bytes of one element, and elements at a time
  MpiAint extent_ = 0;
  MpiCount done_ = 0;
  std::unique_ptr<std::byte[]> packed_;
};

// Copies typed data to the same type elsewhere. Data that cannot be packed are left out.
void copy_data(const Data& from, const Data& to, MpiComm comm);

}  // namespace sumac

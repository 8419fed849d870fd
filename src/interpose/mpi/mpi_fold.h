// SPDX-License-Identifier: BSD-3-Clause
// Folds by an operation of the program's own, on any type. The MPI calls the function
// (MPI_Reduce_local), because only the MPI knows its language. The function gets the program's
// handles, runs in the calling thread, and works on copies that lie as the type has them in memory.
#pragma once

#include <exception>

#include "algorithms/arguments.h"
#include "base/cpu.h"
#include "interpose/mpi/constants.h"
#include "interpose/mpi/gap_buffer.h"
#include "interpose/mpi/type_layout.h"

namespace sumac {

// If the program's function leaves by a C++ exception in the middle of a collective, the exception
// is kept until the collective has ended.
class PendingException {
 public:
  // Computes inout[i] = in[i] op inout[i] and returns the MPI's error. Keeps an exception by which
  // the function leaves; lets exceptions of other languages, and cancelled threads, pass.
  int reduce_local(const void* in, void* inout, int count, MpiDatatype type, MpiOp op);

  explicit operator bool() const { return static_cast<bool>(exception_); }
  // Throws the exception that is kept, and forgets it.
  [[noreturn]] void leave();

 private:
  std::exception_ptr exception_;
};

// A communicator has this fold, for one reduction at a time.
class MpiFold final : public UserFold {
 public:
  // Begins a reduction of elements that lie as `layout` says, which must be filled before.
  void begin(MpiDatatype type, MpiOp op, MpiComm comm) {
    type_ = type;
    op_ = op;
    comm_ = comm;
  }
  TypeLayout& layout() { return layout_; }
  const TypeLayout& layout() const { return layout_; }
  // Returns true if the function must see all elements of a vector at once: programs send objects
  // as bytes, and an element of one byte does not tell where an object ends.
  bool is_whole() const { return layout_.size == 1; }
  // Returns memory for packed data, valid until end().
  std::byte* packed(std::size_t bytes) { return packed_.get(bytes, comm_); }

  void fold(std::byte* output, int ranks, std::size_t count, Source source,
            const void* context) override;

  // Returns the MPI's first error since begin().
  int end();
  // This is set when the function has left by an exception. It is then not called again, and the
  // result is undefined; but everything shared with other ranks is in order.
  PendingException& exception() { return exception_; }
  // Must be called when the communicator has ended.
  void forget();

 private:
  void fold_small(std::byte* output, int ranks, std::size_t count, Source source,
                  const void* context);
  // These are the addresses of the first elements.
  struct Operands {
    std::byte *left, *right;
  };
  Operands operands(std::size_t count);
  void load(std::byte* to, const std::byte* packed, std::size_t count);
  void store(std::byte* packed, std::byte* from, std::size_t count);
  void call(void* left, void* right, std::size_t count);

  MpiDatatype type_ = kMpi.datatype_null;
  MpiOp op_ = kMpi.op_null;
  MpiComm comm_ = kMpi.comm_null;
  TypeLayout layout_;
  int error_ = kMpiSuccess;
  PendingException exception_;
  GrowingMemory operands_, packed_;
  // These have the operands of dense elements that fit a cache line.
  alignas(kCacheLine) std::byte small_[2][kCacheLine];
};

}  // namespace sumac

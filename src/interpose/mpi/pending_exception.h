// SPDX-License-Identifier: BSD-3-Clause
// If the program's function leaves by a C++ exception in the middle of a collective, the exception
// is kept until the collective has ended.
#pragma once

#include <exception>

#include "interpose/mpi/constants.h"

namespace sumac {

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

}  // namespace sumac

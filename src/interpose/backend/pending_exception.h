// SPDX-License-Identifier: BSD-3-Clause
// A C++ exception that the program's function has left by in the middle of a collective, kept until
// the collective has ended.
#pragma once

#include <mpi.h>

#include <exception>

namespace sumac {

class PendingException {
 public:
  // inout[i] = in[i] op inout[i], and the MPI's error. Keeps an exception the function leaves by;
  // of another language's, or a cancelled thread's, it lets the way go on.
  int reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op);

  explicit operator bool() const { return static_cast<bool>(exception_); }
  // Throws what is kept, and forgets it.
  [[noreturn]] void leave();

 private:
  std::exception_ptr exception_;
};

}  // namespace sumac

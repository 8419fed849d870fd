// SPDX-License-Identifier: BSD-3-Clause
// This is the only file compiled with exceptions.
#include "interpose/mpi/mpi_fold.h"

#include <cxxabi.h>

#include <utility>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

int PendingException::reduce_local(const void* in, void* inout, int count, MpiDatatype type,
                                   MpiOp op) {
  try {
    return mpi.Reduce_local(in, inout, count, type, op);
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (...) {
    exception_ = std::current_exception();
    if (!exception_) throw;  // an exception of another language
  }
  return kMpiSuccess;
}

void PendingException::leave() { std::rethrow_exception(std::exchange(exception_, nullptr)); }

}  // namespace sumac

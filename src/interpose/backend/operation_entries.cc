// SPDX-License-Identifier: BSD-3-Clause
// These are the functions of sumac.h about operations and types, as the stub finds them in a back
// end. They are compiled for each family of MPIs.
#include "interpose/calls/user_operations.h"
#include "interpose/family/native.h"
#include "interpose/mpi/callbacks.h"

#define SUMAC_EXPORT extern "C" __attribute__((visibility("default")))

using sumac::MpiDatatype, sumac::MpiOp, sumac::OpPointer, sumac::from_native;

SUMAC_EXPORT int sumac_backend_op_create(int kind, int flags, MPI_Op* op) {
  return sumac::create_known_operation(kind, flags, OpPointer(op));
}

SUMAC_EXPORT int sumac_backend_hint_type(MPI_Datatype type, int element) {
  return sumac::hint_type(from_native<MpiDatatype>(type), element);
}

SUMAC_EXPORT int sumac_backend_hint_op(MPI_Op op, int kind) {
  return sumac::hint_op(from_native<MpiOp>(op), kind);
}

SUMAC_EXPORT int sumac_backend_op_create_f(int kind, int flags, int* op) {
  MpiOp created = sumac::kMpi.op_null;
  const int error = sumac::create_known_operation(kind, flags, one(created));
  if (error == sumac::kMpiSuccess) *op = sumac::fortran_of(created);
  return error;
}

SUMAC_EXPORT int sumac_backend_hint_type_f(const int* type, int element) {
  return sumac::hint_type(sumac::type_of_fortran(*type), element);
}

SUMAC_EXPORT int sumac_backend_hint_op_f(const int* op, int kind) {
  return sumac::hint_op(sumac::op_of_fortran(*op), kind);
}

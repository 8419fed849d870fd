// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/user_operations.h"

#include "interpose/calls/calls.h"
#include "interpose/calls/user_function.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/self_communicator.h"
#include "interpose/mpi/user_handles.h"
#include "sumac/sumac.h"

namespace sumac {
namespace {

static_assert(SUMAC_MAXLOC - SUMAC_SUM == static_cast<int>(Op::maxloc));

// If MPI_Op_free is not seen, nothing can be remembered: the handle may be given to another
// operation.
bool sees_frees = false;

bool usable() {
  int finalized = 0;
  // This is asked each time, since Sumac does not see the end of MPI if it is only linked.
  return mpi_is_up() && mpi.Finalized(&finalized) == kMpiSuccess && !finalized;
}

bool is_kind(int kind) { return kind >= SUMAC_SUM && kind <= SUMAC_MAXLOC; }
Op op_of(int kind) { return static_cast<Op>(kind - SUMAC_SUM); }

int op_free(OpPointer op) {
  // The operation is forgotten first: another thread may be given the same handle as soon as it is
  // free.
  if (op) forget_op(*op);
  return mpi.Op_free(op);
}

}  // namespace

int create_known_operation(int kind, int flags, OpPointer op) {
  if (!usable()) return kMpi.err_other;
  if (!op || !is_kind(kind) || (flags & ~SUMAC_OP_THREADED)) return kMpi.err_arg;
  self_communicator();  // made now, and not later when the MPI calls the function
  const UserFunction function = user_function(op_of(kind), flags & SUMAC_OP_THREADED);
  if (const int error = create_operation(function, op)) return error;
  if (!sees_frees || tell_op(*op, op_of(kind))) return kMpiSuccess;
  mpi.Op_free(op);
  return kMpi.err_no_mem;
}

int hint_type(MpiDatatype type, int element) {
  if (!usable()) return kMpi.err_other;
  if (element != SUMAC_FLOAT16 && element != SUMAC_BFLOAT16) return kMpi.err_arg;
  if (type == kMpi.datatype_null || find_type(type)) return kMpi.err_type;
  const DType dtype = element == SUMAC_FLOAT16 ? DType::f16 : DType::bf16;
  std::size_t bytes = 0;
  if (!packed_size(type, bytes) || bytes != size_of(dtype) || !lies_packed(type)) {
    return kMpi.err_type;
  }
  return tell_type(type, dtype) ? kMpiSuccess : kMpi.err_no_mem;
}

int hint_op(MpiOp op, int kind) {
  if (!usable()) return kMpi.err_other;
  if (!is_kind(kind)) return kMpi.err_arg;
  const Op* told = find_told_op(op);
  if (op == kMpi.op_null || find_op(op) || (told && *told != op_of(kind))) return kMpi.err_op;
  if (!sees_frees) return kMpiSuccess;
  return tell_op(op, op_of(kind)) ? kMpiSuccess : kMpi.err_no_mem;
}

void redirect_operations(const sumac_stub& stub) {
  sees_frees = stub.intercepts;
  in_front.Op_free = op_free;
  put_in_front(stub, SUMAC_CALL_Op_free);
}

}  // namespace sumac

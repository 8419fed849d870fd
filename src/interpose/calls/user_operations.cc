// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/calls.h"
#include "interpose/calls/user_function.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/self_communicator.h"
#include "interpose/mpi/user_handles.h"
#include "sumac/sumac.h"

namespace sumac {
namespace {

static_assert(SUMAC_MAXLOC - SUMAC_SUM == static_cast<int>(Op::maxloc));

// Where MPI_Op_free is not seen nothing can be remembered: the handle may be given to another
// operation.
bool sees_frees = false;

bool usable() {
  int finalized = 0;
  // Asked each time, since the end of MPI is not seen where Sumac is only linked.
  return mpi_is_up() && mpi.Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

bool is_kind(int kind) { return kind >= SUMAC_SUM && kind <= SUMAC_MAXLOC; }
Op op_of(int kind) { return static_cast<Op>(kind - SUMAC_SUM); }

int create(int kind, int flags, MPI_Op* op) {
  if (!usable()) return MPI_ERR_OTHER;
  if (!op || !is_kind(kind) || (flags & ~SUMAC_OP_THREADED)) return MPI_ERR_ARG;
  self_communicator();  // not to be made later, when the MPI calls the function
  constexpr int kCommutes = 1;
  MPI_User_function* function = user_function(op_of(kind), flags & SUMAC_OP_THREADED);
  if (const int error = mpi.Op_create(function, kCommutes, op)) return error;
  if (!sees_frees || tell_op(*op, op_of(kind))) return MPI_SUCCESS;
  mpi.Op_free(op);
  return MPI_ERR_NO_MEM;
}

int hint_type(MPI_Datatype type, int element) {
  if (!usable()) return MPI_ERR_OTHER;
  if (element != SUMAC_FLOAT16 && element != SUMAC_BFLOAT16) return MPI_ERR_ARG;
  if (type == MPI_DATATYPE_NULL || find_type(type)) return MPI_ERR_TYPE;
  const DType dtype = element == SUMAC_FLOAT16 ? DType::f16 : DType::bf16;
  std::size_t bytes = 0;
  if (!packed_size(type, bytes) || bytes != size_of(dtype) || !lies_packed(type)) {
    return MPI_ERR_TYPE;
  }
  return tell_type(type, dtype) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int hint_op(MPI_Op op, int kind) {
  if (!usable()) return MPI_ERR_OTHER;
  if (!is_kind(kind)) return MPI_ERR_ARG;
  const Op* told = find_told_op(op);
  if (op == MPI_OP_NULL || find_op(op) || (told && *told != op_of(kind))) return MPI_ERR_OP;
  if (!sees_frees) return MPI_SUCCESS;
  return tell_op(op, op_of(kind)) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int op_free(MPI_Op* op) {
  // Forgets it first: another thread may be given the same handle as soon as it is free.
  if (op) forget_op(*op);
  return mpi.Op_free(op);
}

}  // namespace

void redirect_operations(const sumac_stub& stub) {
  sees_frees = stub.intercepts;
  stub.redirect(SUMAC_CALL_Op_free, reinterpret_cast<void*>(op_free));
}

}  // namespace sumac

#define SUMAC_EXPORT extern "C" __attribute__((visibility("default")))

SUMAC_EXPORT int sumac_backend_op_create(int kind, int flags, MPI_Op* op) {
  return sumac::create(kind, flags, op);
}

SUMAC_EXPORT int sumac_backend_hint_type(MPI_Datatype type, int element) {
  return sumac::hint_type(type, element);
}

SUMAC_EXPORT int sumac_backend_hint_op(MPI_Op op, int kind) { return sumac::hint_op(op, kind); }

SUMAC_EXPORT int sumac_backend_op_create_f(int kind, int flags, MPI_Fint* op) {
  MPI_Op created = MPI_OP_NULL;
  const int error = sumac::create(kind, flags, &created);
  if (error == MPI_SUCCESS) *op = sumac::mpi.Op_c2f(created);
  return error;
}

SUMAC_EXPORT int sumac_backend_hint_type_f(const MPI_Fint* type, int element) {
  return sumac::hint_type(sumac::mpi.Type_f2c(*type), element);
}

SUMAC_EXPORT int sumac_backend_hint_op_f(const MPI_Fint* op, int kind) {
  return sumac::hint_op(sumac::mpi.Op_f2c(*op), kind);
}

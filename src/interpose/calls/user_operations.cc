// SPDX-License-Identifier: BSD-3-Clause

#include <utility>

#include "base/types.h"
#include "interpose/calls/calls.h"
#include "interpose/calls/reduce_local.h"
#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/constants.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/type_contents.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"
#include "sumac/sumac.h"

namespace sumac {

namespace {

// A type consists of these elements: a number of one element type, in order and with no gaps but
// the element's own. `type` is null if the type is anything else.
struct TypeElements {
  const TypeInfo* type = nullptr;
  std::size_t each = 1;
};

TypeElements repeated(MpiDatatype type) {
  if (const TypeInfo* info = find_type(type)) return {info, 1};
  const RepeatedType made(type);
  if (made.inner() == kMpi.datatype_null) return {};
  TypeElements elements = repeated(made.inner());
  elements.each *= static_cast<std::size_t>(made.count());
  return elements;
}

// Hints hold for the very handle only: when asked for a type's contents, Open MPI returns copies.
TypeElements elements_of(MpiDatatype type) {
  const TypeInfo* hinted = find_hinted_type(type);
  return hinted ? TypeElements{hinted, 1} : repeated(type);
}

// The MPI calls this in the middle of a reduction, where no error can be reported.
void refuse(MpiDatatype type, Op op) {
  char name[kMostName + 1] = "";
  int length = 0;
  mpi.Type_get_name(type, name, &length);
  log_error(
      "error[op-type]: an operation of sumac_op_create (%s) cannot reduce %s: it is not defined on "
      "that type, or the type is not made of elements of one kind; ending the job",
      name_of(op), *name ? name : "a derived type without a name");
  end_job(kMpi.comm_world);
}

template <Op op, bool threaded>
void reduce(void* in, void* inout, int* count, void* pointer) {
  const MpiDatatype type = *DatatypePointer(pointer);
  const TypeElements elements = elements_of(type);
  const ReduceFn kernel = elements.type ? find_kernel(*elements.type, op, false) : nullptr;
  if (!kernel) return refuse(type, op);
  reduce_in_place(kernel, in, inout, static_cast<std::size_t>(*count) * elements.each,
                  elements.type->extent, threaded);
}

template <bool threaded, int... ops>
UserFunction choose(Op op, std::integer_sequence<int, ops...>) {
  static constexpr UserFunction kFunctions[] = {reduce<static_cast<Op>(ops), threaded>...};
  return kFunctions[static_cast<int>(op)];
}

// Returns a function for the MPI to call, which does `op` on whatever type it is given; the job
// ends if it cannot serve the type.
UserFunction user_function(Op op, bool threaded) {
  constexpr std::make_integer_sequence<int, kNumOps> kAll;
  return threaded ? choose<true>(op, kAll) : choose<false>(op, kAll);
}

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

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/user_function.h"

#include <utility>

#include "interpose/calls/reduce_local.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/repeated_type.h"
#include "interpose/mpi/user_handles.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

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
  log_here(
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

}  // namespace

UserFunction user_function(Op op, bool threaded) {
  constexpr std::make_integer_sequence<int, kNumOps> kAll;
  return threaded ? choose<true>(op, kAll) : choose<false>(op, kAll);
}

}  // namespace sumac

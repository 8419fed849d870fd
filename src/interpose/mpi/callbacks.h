// SPDX-License-Identifier: BSD-3-Clause
// These calls give the MPI functions of Sumac's to call.
#pragma once

#include "interpose/mpi/handle_types.h"

namespace sumac {

// Makes a key of attributes that a duplicate of the object does not get. `ended` is called when the
// object is freed, or its attribute deleted, with the bits of its handle. Returns the MPI's error.
using AttributeEnd = void (*)(std::uintptr_t handle, void* attribute);
int create_comm_keyval(AttributeEnd ended, int* key);
int create_type_keyval(AttributeEnd ended, int* key);

// A generalized request has these functions, which do what MPI_Grequest_start says. They must be
// the same in all calls of start_generalized().
struct GeneralizedCalls {
  int (*query)(void* state, StatusPointer status);
  int (*free)(void* state);
  int (*cancel)(void* state, int complete);
};
int start_generalized(const GeneralizedCalls& calls, void* state, RequestPointer request);

// Makes a commutative operation. The MPI calls the function as it does an MPI_User_function; `type`
// points to a handle.
using UserFunction = void (*)(void* in, void* inout, int* count, void* type);
int create_operation(UserFunction function, OpPointer op);

// These convert to and from Fortran's handles.
int fortran_of(MpiOp op);
MpiOp op_of_fortran(int op);
MpiDatatype type_of_fortran(int type);

}  // namespace sumac

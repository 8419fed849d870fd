// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <atomic>

#include "interpose/family/native.h"
#include "interpose/family/special_functions.h"
#include "interpose/mpi/callbacks.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"

namespace sumac {

SpecialFunctions special;

namespace {

// These callbacks exist once for communicators and once for types. The extra state of a key is the
// function that on_delete() calls.
template <class NativeObject>
int do_not_copy(NativeObject, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}
template <class NativeObject>
int on_delete(NativeObject object, int, void* attribute, void* ended) {
  reinterpret_cast<AttributeEnd>(ended)(bits_of(object), attribute);
  return MPI_SUCCESS;
}

// It is the same in all calls, so that all threads that write it write the same.
std::atomic<int (*)(void*, StatusPointer)> query_of_request{nullptr};

int query(void* state, ::MPI_Status* status) {
  return query_of_request.load(std::memory_order_relaxed)(state, StatusPointer(status));
}

}  // namespace

const char* find_special_functions(const sumac_stub& stub) {
  const char* missing = nullptr;
#define SUMAC_FIND(name)                                                               \
  special.name = reinterpret_cast<decltype(special.name)>(stub.lookup("PMPI_" #name)); \
  if (!special.name && !missing) missing = "MPI_" #name;
  SUMAC_SPECIAL_FUNCTIONS(SUMAC_FIND)
#undef SUMAC_FIND
  return missing;
}

int create_comm_keyval(AttributeEnd ended, int* key) {
  return special.Comm_create_keyval(do_not_copy<::MPI_Comm>, on_delete<::MPI_Comm>, key,
                                    reinterpret_cast<void*>(ended));
}

int create_type_keyval(AttributeEnd ended, int* key) {
  return special.Type_create_keyval(do_not_copy<::MPI_Datatype>, on_delete<::MPI_Datatype>, key,
                                    reinterpret_cast<void*>(ended));
}

int start_generalized(const GeneralizedCalls& calls, void* state, RequestPointer request) {
  query_of_request.store(calls.query, std::memory_order_relaxed);
  return special.Grequest_start(query, calls.free, calls.cancel, state, to_native(request));
}

int create_operation(UserFunction function, OpPointer op) {
  constexpr int kCommutes = 1;
  return special.Op_create(reinterpret_cast<::MPI_User_function*>(function), kCommutes,
                           to_native(op));
}

#if defined(MPI_Op_c2f)
int fortran_of(MpiOp op) { return to_native(op); }
MpiOp op_of_fortran(int op) { return from_native<MpiOp>(op); }
MpiDatatype type_of_fortran(int type) { return from_native<MpiDatatype>(type); }
#elif defined(SUMAC_MPI_ABI)
int fortran_of(MpiOp op) { return special.Op_toint(to_native(op)); }
MpiOp op_of_fortran(int op) { return from_native<MpiOp>(special.Op_fromint(op)); }
MpiDatatype type_of_fortran(int type) {
  return from_native<MpiDatatype>(special.Type_fromint(type));
}
#else
int fortran_of(MpiOp op) { return special.Op_c2f(to_native(op)); }
MpiOp op_of_fortran(int op) { return from_native<MpiOp>(special.Op_f2c(op)); }
MpiDatatype type_of_fortran(int type) { return from_native<MpiDatatype>(special.Type_f2c(type)); }
#endif

#if defined(SUMAC_MPI_ABI)

// Intel MPI 2021.18 takes the standard's MPI_ERRORS_RETURN for MPI_ERRORS_ABORT, and the other way
// round. A handler of one's own works there, and stays until the communicator is freed. In MPICH
// 5.0 calls return MPI_SUCCESS after such a handler, whatever the error.
static bool takes_return_for_abort() {
  return library_version().find("Intel") != std::string::npos;
}

static void ignore(::MPI_Comm* /*comm*/, int* /*error*/, ...) {}

void return_errors(MpiComm comm) {
  ::MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  if (!takes_return_for_abort()) {
    mpi.Comm_set_errhandler(comm, {bits_of(MPI_ERRORS_RETURN)});
  } else if (special.Comm_create_errhandler(ignore, &made) == MPI_SUCCESS) {
    MpiErrhandler handler{bits_of(made)};
    mpi.Comm_set_errhandler(comm, handler);
    mpi.Errhandler_free(one(handler));
  }
}

#else

void return_errors(MpiComm comm) { mpi.Comm_set_errhandler(comm, {bits_of(MPI_ERRORS_RETURN)}); }

#endif

}  // namespace sumac

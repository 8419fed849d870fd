// SPDX-License-Identifier: BSD-3-Clause
// These are the MPI's functions in terms of handle_types.h. Sumac calls the MPI only through the
// table `mpi`, because PMPI_X is one of Sumac's own symbols too.
#pragma once

#include <string>

#include "interpose/mpi/signatures.h"
#include "interpose/stub/stub.h"
#include "rules/choice_table.h"

namespace sumac {

// clang-format off
// X(name, the types of the arguments) is found by name in the MPI; every one of these functions is
// needed.
#define SUMAC_MPI_FUNCTIONS(X)                                                                    \
  X(Cart_shift, MpiComm, int, int, int*, int*)                                                    \
  X(Cartdim_get, MpiComm, int*)                                                                   \
  X(Comm_call_errhandler, MpiComm, int)                                                           \
  X(Comm_free_keyval, int*)                                                                       \
  X(Comm_get_errhandler, MpiComm, ErrhandlerPointer)                                              \
  X(Comm_get_name, MpiComm, char*, int*)                                                          \
  X(Comm_get_parent, CommPointer)                                                                 \
  X(Comm_group, MpiComm, GroupPointer)                                                            \
  X(Comm_rank, MpiComm, int*)                                                                     \
  X(Comm_set_attr, MpiComm, int, void*)                                                           \
  X(Comm_set_errhandler, MpiComm, MpiErrhandler)                                                  \
  X(Comm_size, MpiComm, int*)                                                                     \
  X(Comm_split, MpiComm, int, int, CommPointer)                                                   \
  X(Comm_test_inter, MpiComm, int*)                                                               \
  X(Dist_graph_neighbors, MpiComm, int, int*, int*, int, int*, int*)                              \
  X(Dist_graph_neighbors_count, MpiComm, int*, int*, int*)                                        \
  X(Errhandler_free, ErrhandlerPointer)                                                           \
  X(Error_class, int, int*)                                                                       \
  X(Finalized, int*)                                                                              \
  X(Get_count, StatusPointer, MpiDatatype, int*)                                                  \
  X(Get_library_version, char*, int*)                                                             \
  X(Graph_neighbors, MpiComm, int, int, int*)                                                     \
  X(Graph_neighbors_count, MpiComm, int, int*)                                                    \
  X(Grequest_complete, MpiRequest)                                                                \
  X(Group_free, GroupPointer)                                                                     \
  X(Group_translate_ranks, MpiGroup, int, const int*, MpiGroup, int*)                             \
  X(Info_get, MpiInfo, const char*, int, char*, int*)                                             \
  X(Info_get_nkeys, MpiInfo, int*)                                                                \
  X(Initialized, int*)                                                                            \
  X(Iprobe, int, int, MpiComm, int*, StatusPointer)                                               \
  X(Query_thread, int*)                                                                           \
  X(Recv_init, void*, int, MpiDatatype, int, int, MpiComm, RequestPointer)                        \
  X(Status_set_cancelled, StatusPointer, int)                                                     \
  X(Status_set_elements, StatusPointer, MpiDatatype, int)                                         \
  X(Test_cancelled, StatusPointer, int*)                                                          \
  X(Topo_test, MpiComm, int*)                                                                     \
  X(Type_commit, DatatypePointer)                                                                 \
  X(Type_contiguous, int, MpiDatatype, DatatypePointer)                                           \
  X(Type_create_hindexed, int, const int*, const MpiAint*, MpiDatatype, DatatypePointer)          \
  X(Type_create_struct, int, const int*, const MpiAint*, DatatypePointer, DatatypePointer)        \
  X(Type_dup, MpiDatatype, DatatypePointer)                                                       \
  X(Type_free, DatatypePointer)                                                                   \
  X(Type_free_keyval, int*)                                                                       \
  X(Type_get_attr, MpiDatatype, int, void*, int*)                                                 \
  X(Type_get_contents, MpiDatatype, int, int, int, int*, MpiAint*, DatatypePointer)               \
  X(Type_get_envelope, MpiDatatype, int*, int*, int*, int*)                                       \
  X(Type_get_extent, MpiDatatype, MpiAint*, MpiAint*)                                             \
  X(Type_get_name, MpiDatatype, char*, int*)                                                      \
  X(Type_get_true_extent, MpiDatatype, MpiAint*, MpiAint*)                                        \
  X(Type_set_attr, MpiDatatype, int, void*)                                                       \
  X(Type_size, MpiDatatype, int*)                                                                 \
  X(Type_size_x, MpiDatatype, MpiCount*)                                                          \
  X(Win_shared_query, MpiWin, int, MpiAint*, int*, void*)

// These functions are intercepted as well, so they have been found already; every one of them is
// needed. The collectives, of which some MPIs lack some forms, are in calls.def.
#define SUMAC_MPI_INTERCEPTED(X)                                                                  \
  X(Abort, MpiComm, int)                                                                          \
  X(Alloc_mem, MpiAint, MpiInfo, void*)                                                           \
  X(Cancel, RequestPointer)                                                                       \
  X(Comm_disconnect, CommPointer)                                                                 \
  X(Comm_dup_with_info, MpiComm, MpiInfo, CommPointer)                                            \
  X(Comm_free, CommPointer)                                                                       \
  X(Comm_set_info, MpiComm, MpiInfo)                                                              \
  X(Finalize)                                                                                     \
  X(Free_mem, void*)                                                                              \
  X(Init, int*, char***)                                                                          \
  X(Init_thread, int*, char***, int, int*)                                                        \
  X(Irecv, void*, int, MpiDatatype, int, int, MpiComm, RequestPointer)                            \
  X(Isend, const void*, int, MpiDatatype, int, int, MpiComm, RequestPointer)                      \
  X(Op_free, OpPointer)                                                                           \
  X(Pack, const void*, int, MpiDatatype, void*, int, int*, MpiComm)                               \
  X(Recv, void*, int, MpiDatatype, int, int, MpiComm, StatusPointer)                              \
  X(Request_free, RequestPointer)                                                                 \
  X(Request_get_status, MpiRequest, int*, StatusPointer)                                          \
  X(Send, const void*, int, MpiDatatype, int, int, MpiComm)                                       \
  X(Sendrecv, const void*, int, MpiDatatype, int, int, void*, int, MpiDatatype, int, int,         \
    MpiComm, StatusPointer)                                                                       \
  X(Start, RequestPointer)                                                                        \
  X(Startall, int, RequestPointer)                                                                \
  X(Test, RequestPointer, int*, StatusPointer)                                                    \
  X(Testall, int, RequestPointer, int*, StatusPointer)                                            \
  X(Testany, int, RequestPointer, int*, int*, StatusPointer)                                      \
  X(Testsome, int, RequestPointer, int*, int*, StatusPointer)                                     \
  X(Unpack, const void*, int, int*, void*, int, MpiDatatype, MpiComm)                             \
  X(Wait, RequestPointer, StatusPointer)                                                          \
  X(Waitall, int, RequestPointer, StatusPointer)                                                  \
  X(Waitany, int, RequestPointer, int*, StatusPointer)                                            \
  X(Waitsome, int, RequestPointer, int*, int*, StatusPointer)                                     \
  X(Win_allocate_shared, MpiAint, int, MpiInfo, MpiComm, void*, WinPointer)                       \
  X(Win_free, WinPointer)

// These functions are intercepted, and not in every MPI: the stub may have something in their
// place. They are null if it has nothing either.
#define SUMAC_MPI_INTERCEPTED_OR_NOT(X)                                                           \
  X(Pack_c, const void*, MpiCount, MpiDatatype, void*, MpiCount, MpiCount*, MpiComm)              \
  X(Request_get_status_all, int, RequestPointer, int*, StatusPointer)                             \
  X(Request_get_status_any, int, RequestPointer, int*, int*, StatusPointer)                       \
  X(Request_get_status_some, int, RequestPointer, int*, int*, StatusPointer)                      \
  X(Unpack_c, const void*, MpiCount, MpiCount*, void*, MpiCount, MpiDatatype, MpiComm)

// These functions are not intercepted, and not in every MPI. They are null if the MPI lacks them.
#define SUMAC_MPI_FOUND_OR_NOT(X)                                                                 \
  X(Type_get_contents_c, MpiDatatype, MpiCount, MpiCount, MpiCount, MpiCount, int*, MpiAint*,     \
    MpiCount*, DatatypePointer)                                                                   \
  X(Type_get_envelope_c, MpiDatatype, MpiCount*, MpiCount*, MpiCount*, MpiCount*, int*)
// clang-format on

struct MpiFunctions {
#define SUMAC_DECLARE(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  SUMAC_MPI_FUNCTIONS(SUMAC_DECLARE)
  SUMAC_MPI_INTERCEPTED(SUMAC_DECLARE)
  SUMAC_MPI_INTERCEPTED_OR_NOT(SUMAC_DECLARE)
  SUMAC_MPI_FOUND_OR_NOT(SUMAC_DECLARE)
#undef SUMAC_DECLARE
  // A function is null if this MPI lacks it. Open MPI 4 has the persistent ones by another name.
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count) \
  MpiFunction<Function::function, Form::form, count> name = nullptr;
#define SUMAC_COUNTED(name, function, form) SUMAC_COLLECTIVE(name, function, form, int)
#include "interpose/calls.def"
#undef SUMAC_CALL
};

extern MpiFunctions mpi;

inline bool is_intercommunicator(MpiComm comm) {
  int inter = 0;
  if (comm != kMpi.comm_null) mpi.Comm_test_inter(comm, &inter);
  return inter != 0;
}

// MPICH 4.0 takes unsigned numbers for signed ones in MPI_MIN and MPI_MAX. Turns unsigned numbers
// into signed ones of the same order, and back.
inline std::uint64_t in_signed_order(std::uint64_t number) {
  return number ^ std::uint64_t{1} << 63;
}

// These functions stand before those of the MPI that are intercepted and no collectives.
extern MpiFunctions in_front;
// Has the stub call the function of `in_front` that the call names.
void put_in_front(const sumac_stub& stub, sumac_call call);
// Does the same for the functions of packing.
void put_packing_in_front(const sumac_stub& stub);
// Returns the same function as the program would call it.
void* entry_of(sumac_call call);

// Fills the table. Returns null, or the name of a function that this MPI lacks.
const char* find_mpi_functions(const sumac_stub& stub);

// Returns what the MPI says of itself, in one or several lines.
std::string library_version();

// Returns true if the MPI says that it takes buffers in a GPU's memory. find_device_support() must
// have been called.
bool mpi_takes_devices();
void find_device_support(const sumac_stub& stub);

// Returns the MPI family whose behaviour the MPI has. An MPI of the standard's binary interface is
// asked what it is.
Family family();

}  // namespace sumac

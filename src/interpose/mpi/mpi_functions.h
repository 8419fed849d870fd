// SPDX-License-Identifier: BSD-3-Clause
// The MPI below, called only through this table: PMPI_X is one of Sumac's own symbols too.
#pragma once

#include <mpi.h>

#include <string>

#include "interpose/mpi/signatures.h"
#include "interpose/stub/stub.h"

namespace sumac {

// clang-format off
// Found by name in the MPI; every one of them is needed.
#define SUMAC_MPI_FUNCTIONS(X)                                                               \
  X(Cart_shift) X(Cartdim_get) X(Comm_call_errhandler) X(Comm_create_keyval)                 \
  X(Comm_free_keyval) X(Comm_get_errhandler) X(Comm_get_name) X(Comm_get_parent)             \
  X(Comm_group) X(Comm_rank) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size)            \
  X(Comm_split) X(Comm_test_inter) X(Dist_graph_neighbors) X(Dist_graph_neighbors_count)     \
  X(Errhandler_free) X(Error_class) X(Finalized) X(Get_count) X(Get_library_version)         \
  X(Graph_neighbors) X(Graph_neighbors_count) X(Grequest_complete) X(Grequest_start)         \
  X(Group_free) X(Group_translate_ranks) X(Info_get) X(Initialized) X(Iprobe)                \
  X(Op_create) X(Query_thread) X(Recv_init) X(Status_set_cancelled)                          \
  X(Status_set_elements) X(Test_cancelled) X(Topo_test) X(Type_commit) X(Type_contiguous)    \
  X(Type_create_hindexed) X(Type_create_keyval) X(Type_create_struct) X(Type_dup)            \
  X(Type_free) X(Type_free_keyval) X(Type_get_attr) X(Type_get_contents) X(Type_get_envelope)\
  X(Type_get_extent) X(Type_get_name) X(Type_get_true_extent) X(Type_set_attr) X(Type_size)  \
  X(Type_size_x) X(Win_shared_query)

// Intercepted as well, so found already. The collectives, of which some MPIs lack some forms, are
// in calls.def.
#define SUMAC_MPI_INTERCEPTED(X)                                                             \
  X(Abort) X(Cancel) X(Comm_disconnect) X(Comm_dup_with_info) X(Comm_free) X(Comm_set_info)  \
  X(Finalize) X(Gather) X(Igather) X(Ineighbor_alltoallw) X(Init) X(Init_thread) X(Irecv)    \
  X(Isend) X(Neighbor_alltoallw) X(Op_free) X(Pack) X(Recv) X(Request_free)                  \
  X(Request_get_status) X(Send) X(Sendrecv) X(Start) X(Startall) X(Test) X(Testall)          \
  X(Testany) X(Testsome) X(Unpack) X(Wait) X(Waitall) X(Waitany) X(Waitsome)                 \
  X(Win_allocate_shared) X(Win_free)

// Not intercepted, and not in every MPI.
#define SUMAC_MPI_FOUND_OR_NOT(X) X(Type_get_contents_c) X(Type_get_envelope_c)

// Of some families: to and from Fortran's handles, macros where C's are the same integers.
#if defined(MPI_Op_c2f)
#define SUMAC_MPI_OF_FAMILY(X)
#elif defined(SUMAC_MPI_ABI)
#define SUMAC_MPI_OF_FAMILY(X) X(Comm_create_errhandler) X(Op_toint) X(Op_fromint) X(Type_fromint)
#else
#define SUMAC_MPI_OF_FAMILY(X) X(Op_c2f) X(Op_f2c) X(Type_f2c)
#endif
// clang-format on

using TypeGetEnvelopeLarge = int (*)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*,
                                     int*);
using TypeGetContentsLarge = int (*)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*,
                                     MPI_Aint*, MPI_Count*, MPI_Datatype*);

struct MpiFunctions {
#define SUMAC_DECLARE(name) decltype(&PMPI_##name) name = nullptr;
  SUMAC_MPI_FUNCTIONS(SUMAC_DECLARE)
  SUMAC_MPI_INTERCEPTED(SUMAC_DECLARE)
  SUMAC_MPI_OF_FAMILY(SUMAC_DECLARE)
#undef SUMAC_DECLARE
#if defined(MPI_Op_c2f)
  static MPI_Fint Op_c2f(MPI_Op op) { return op; }
  static MPI_Op Op_f2c(MPI_Fint op) { return op; }
  static MPI_Datatype Type_f2c(MPI_Fint type) { return type; }
#elif defined(SUMAC_MPI_ABI)
  int Op_c2f(MPI_Op op) const { return Op_toint(op); }
  MPI_Op Op_f2c(int op) const { return Op_fromint(op); }
  MPI_Datatype Type_f2c(int type) const { return Type_fromint(type); }
#endif
  TypeGetEnvelopeLarge Type_get_envelope_c = nullptr;
  TypeGetContentsLarge Type_get_contents_c = nullptr;
  // Null where this MPI lacks it. Open MPI 4 has the persistent ones by another name.
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count) \
  MpiFunction<Function::function, Form::form, count> name = nullptr;
#include "interpose/calls.def"
#undef SUMAC_CALL
};

extern MpiFunctions mpi;

// Fills the table. Returns null, or the name of a function this MPI lacks.
const char* find_mpi_functions(const sumac_stub& stub);

// What the MPI says of itself, in one or several lines.
std::string library_version();

}  // namespace sumac

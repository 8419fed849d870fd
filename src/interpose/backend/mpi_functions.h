// SPDX-License-Identifier: BSD-3-Clause
// The MPI below, called only through this table: PMPI_X is one of Sumac's own symbols too.
#pragma once

#include <mpi.h>

#include "interpose/stub/stub.h"

namespace sumac {

// clang-format off
// Found by name in the MPI; every one of them is needed.
#define SUMAC_MPI_FUNCTIONS(X)                                                               \
  X(Abort) X(Allgather) X(Comm_create_keyval) X(Comm_free_keyval) X(Comm_get_attr)           \
  X(Comm_get_errhandler) X(Comm_rank) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size)   \
  X(Comm_split) X(Comm_test_inter) X(Errhandler_free) X(Error_class) X(Finalized)            \
  X(Get_library_version) X(Info_get) X(Initialized) X(Iprobe) X(Irecv) X(Isend)              \
  X(Type_commit) X(Type_contiguous)                                                          \
  X(Type_create_hindexed) X(Type_create_struct) X(Type_free) X(Type_get_contents)            \
  X(Type_get_envelope) X(Type_get_extent) X(Type_size) X(Type_size_x)

// Intercepted as well, so found already: the int forms every MPI has.
#define SUMAC_MPI_INTERCEPTED(X)                                                             \
  X(Allreduce) X(Barrier) X(Bcast) X(Comm_disconnect) X(Comm_dup_with_info) X(Comm_free)     \
  X(Comm_set_info) X(Finalize) X(Iallreduce) X(Init) X(Init_thread) X(Pack) X(Reduce)        \
  X(Reduce_local) X(Testsome) X(Unpack)
// clang-format on

// Large-count forms, as MPI 4 has them. Null where this MPI lacks them.
using ReduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
using AllreduceLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
using BcastLarge = int (*)(void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
using ReduceLocalLarge = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op);

struct MpiFunctions {
#define SUMAC_DECLARE(name) decltype(&PMPI_##name) name = nullptr;
  SUMAC_MPI_FUNCTIONS(SUMAC_DECLARE)
  SUMAC_MPI_INTERCEPTED(SUMAC_DECLARE)
#undef SUMAC_DECLARE
  ReduceLarge Reduce_c = nullptr;
  AllreduceLarge Allreduce_c = nullptr;
  BcastLarge Bcast_c = nullptr;
  ReduceLocalLarge Reduce_local_c = nullptr;
};

extern MpiFunctions mpi;

// Fills the table. Returns null, or the name of a function this MPI lacks.
const char* find_mpi_functions(const sumac_stub& stub);

}  // namespace sumac

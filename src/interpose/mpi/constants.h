// SPDX-License-Identifier: BSD-3-Clause
// These are the constants of <mpi.h>, whose values differ between families of MPIs.
// interpose/family/ takes them from the family's own header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

// This is a handle of the MPI's. If a handle is an int in the MPI, its bits are those of that int,
// unsigned.
template <class Tag>
struct Handle {
  std::uintptr_t bits = 0;

  // A temporary cannot be assigned to: a HandlePointer returns a copy of what it points to.
  Handle& operator=(const Handle&) & = default;
  friend constexpr bool operator==(Handle, Handle) = default;
};
using MpiComm = Handle<struct CommTag>;
using MpiDatatype = Handle<struct DatatypeTag>;
using MpiErrhandler = Handle<struct ErrhandlerTag>;
using MpiGroup = Handle<struct GroupTag>;
using MpiInfo = Handle<struct InfoTag>;
using MpiOp = Handle<struct OpTag>;
using MpiRequest = Handle<struct RequestTag>;
using MpiWin = Handle<struct WinTag>;
using MpiAint = std::intptr_t;
using MpiCount = std::int64_t;

// MPI_SUCCESS is 0 by the standard.
inline constexpr int kMpiSuccess = 0;
// No family has a larger MPI_Status.
inline constexpr std::size_t kLargestStatus = 32;
// No family's MPI_MAX_OBJECT_NAME, MPI_MAX_INFO_VAL and MPI_MAX_LIBRARY_VERSION_STRING are larger.
inline constexpr int kMostName = 256, kMostInfoValue = 1024, kMostVersion = 8192;

// clang-format off
#define SUMAC_MPI_HANDLES(X)                                                                  \
  X(MpiComm, comm_null, MPI_COMM_NULL) X(MpiComm, comm_self, MPI_COMM_SELF)                   \
  X(MpiComm, comm_world, MPI_COMM_WORLD)                                                      \
  X(MpiDatatype, datatype_null, MPI_DATATYPE_NULL) X(MpiDatatype, aint, MPI_AINT)             \
  X(MpiDatatype, byte, MPI_BYTE) X(MpiDatatype, count, MPI_COUNT)                             \
  X(MpiDatatype, float64, MPI_DOUBLE) X(MpiDatatype, int32_t, MPI_INT32_T)                    \
  X(MpiDatatype, offset, MPI_OFFSET) X(MpiDatatype, packed, MPI_PACKED)                       \
  X(MpiDatatype, int64_t, MPI_INT64_T) X(MpiDatatype, uint64_t, MPI_UINT64_T)                 \
  X(MpiErrhandler, errhandler_null, MPI_ERRHANDLER_NULL)                                      \
  X(MpiErrhandler, errors_are_fatal, MPI_ERRORS_ARE_FATAL)                                    \
  X(MpiGroup, group_null, MPI_GROUP_NULL) X(MpiInfo, info_null, MPI_INFO_NULL)                \
  X(MpiOp, op_null, MPI_OP_NULL) X(MpiOp, band, MPI_BAND) X(MpiOp, bor, MPI_BOR)              \
  X(MpiOp, land, MPI_LAND) X(MpiOp, lor, MPI_LOR) X(MpiOp, lxor, MPI_LXOR)                    \
  X(MpiOp, max, MPI_MAX) X(MpiOp, min, MPI_MIN) X(MpiOp, sum, MPI_SUM)                        \
  X(MpiRequest, request_null, MPI_REQUEST_NULL)
#define SUMAC_MPI_NUMBERS(X)                                                                  \
  X(any_source, MPI_ANY_SOURCE) X(any_tag, MPI_ANY_TAG) X(proc_null, MPI_PROC_NULL)           \
  X(undefined, MPI_UNDEFINED) X(keyval_invalid, MPI_KEYVAL_INVALID)                           \
  X(thread_multiple, MPI_THREAD_MULTIPLE) X(thread_single, MPI_THREAD_SINGLE)                 \
  X(topology_cart, MPI_CART) X(topology_graph, MPI_GRAPH)                                     \
  X(topology_dist_graph, MPI_DIST_GRAPH)                                                      \
  X(err_arg, MPI_ERR_ARG) X(err_buffer, MPI_ERR_BUFFER) X(err_comm, MPI_ERR_COMM)             \
  X(err_count, MPI_ERR_COUNT) X(err_in_status, MPI_ERR_IN_STATUS)                             \
  X(err_no_mem, MPI_ERR_NO_MEM) X(err_op, MPI_ERR_OP) X(err_other, MPI_ERR_OTHER)             \
  X(err_pending, MPI_ERR_PENDING) X(err_request, MPI_ERR_REQUEST) X(err_root, MPI_ERR_ROOT)   \
  X(err_topology, MPI_ERR_TOPOLOGY) X(err_truncate, MPI_ERR_TRUNCATE)                         \
  X(err_type, MPI_ERR_TYPE)                                                                   \
  X(combiner_contiguous, MPI_COMBINER_CONTIGUOUS) X(combiner_darray, MPI_COMBINER_DARRAY)     \
  X(combiner_dup, MPI_COMBINER_DUP) X(combiner_f90_complex, MPI_COMBINER_F90_COMPLEX)         \
  X(combiner_f90_integer, MPI_COMBINER_F90_INTEGER)                                           \
  X(combiner_f90_real, MPI_COMBINER_F90_REAL) X(combiner_hindexed, MPI_COMBINER_HINDEXED)     \
  X(combiner_hindexed_block, MPI_COMBINER_HINDEXED_BLOCK)                                     \
  X(combiner_hvector, MPI_COMBINER_HVECTOR) X(combiner_indexed, MPI_COMBINER_INDEXED)         \
  X(combiner_indexed_block, MPI_COMBINER_INDEXED_BLOCK)                                       \
  X(combiner_named, MPI_COMBINER_NAMED) X(combiner_resized, MPI_COMBINER_RESIZED)             \
  X(combiner_struct, MPI_COMBINER_STRUCT) X(combiner_subarray, MPI_COMBINER_SUBARRAY)         \
  X(combiner_vector, MPI_COMBINER_VECTOR)                                                     \
  X(distribute_cyclic, MPI_DISTRIBUTE_CYCLIC)                                                 \
  X(distribute_dflt_darg, MPI_DISTRIBUTE_DFLT_DARG)                                           \
  X(distribute_none, MPI_DISTRIBUTE_NONE) X(order_fortran, MPI_ORDER_FORTRAN)
// clang-format on

struct MpiConstants {
#define SUMAC_DECLARE(type, name, value) type name;
  SUMAC_MPI_HANDLES(SUMAC_DECLARE)
#undef SUMAC_DECLARE
#define SUMAC_DECLARE(name, value) int name;
  SUMAC_MPI_NUMBERS(SUMAC_DECLARE)
#undef SUMAC_DECLARE
  void *in_place, *bottom, *status_ignore, *statuses_ignore;
  int* unweighted;           // MPI_UNWEIGHTED; null in MPICH, see neighbors.cc
  std::size_t handle_bytes;  // bytes of any handle in the program's memory
  std::size_t status_bytes, status_error_at, status_source_at, status_tag_at;
};

extern const MpiConstants kMpi;

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/constants.h"

#include <mpi.h>

#include <cstddef>

namespace sumac {
namespace {

// Reads as a number what is an int in one family of MPIs and a pointer in the others. A pointer is
// known when the library is loaded, before anything else is initialised.
#define SUMAC_BITS(handle)                                                   \
  (std::uintptr_t)(sizeof(handle) == 4 ? kIntBits & (std::uintptr_t)(handle) \
                                       : (std::uintptr_t)(handle))
constexpr std::uintptr_t kIntBits = 0xffffffff;

#if defined(MPICH_NAME) || defined(MPICH_VERSION)
// MPICH has MPI_UNWEIGHTED as data: a back end that referred to it could only be opened with its
// MPI in the global scope.
constexpr int* kUnweighted = nullptr;
#else
int* const kUnweighted = MPI_UNWEIGHTED;
#endif

}  // namespace

static_assert(MPI_SUCCESS == kMpiSuccess);
static_assert(sizeof(::MPI_Status) <= kLargestStatus);
static_assert(MPI_MAX_OBJECT_NAME <= kMostName && MPI_MAX_INFO_VAL <= kMostInfoValue &&
              MPI_MAX_LIBRARY_VERSION_STRING <= kMostVersion);

const MpiConstants kMpi{
#define SUMAC_DEFINE(type, name, value) .name = {SUMAC_BITS(value)},
    SUMAC_MPI_HANDLES(SUMAC_DEFINE)
#undef SUMAC_DEFINE
#define SUMAC_DEFINE(name, value) .name = value,
        SUMAC_MPI_NUMBERS(SUMAC_DEFINE)
#undef SUMAC_DEFINE
            .in_place = MPI_IN_PLACE,
    .bottom = MPI_BOTTOM,
    .status_ignore = MPI_STATUS_IGNORE,
    .statuses_ignore = MPI_STATUSES_IGNORE,
    .unweighted = kUnweighted,
    .handle_bytes = sizeof(::MPI_Comm),
    .status_bytes = sizeof(::MPI_Status),
    .status_error_at = offsetof(::MPI_Status, MPI_ERROR),
    .status_source_at = offsetof(::MPI_Status, MPI_SOURCE),
    .status_tag_at = offsetof(::MPI_Status, MPI_TAG),
};

}  // namespace sumac

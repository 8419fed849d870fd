// SPDX-License-Identifier: BSD-3-Clause
// The MPI family whose behaviour the MPI has. It is known from the header, but for the standard's
// binary interface, whose MPI is asked what it is.
#pragma once

#include <mpi.h>

#include "rules/choice_table.h"

namespace sumac {

#if defined(SUMAC_MPI_ABI)
Family family();
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
constexpr Family family() { return Family::mpich; }
#else
constexpr Family family() { return Family::openmpi; }
#endif

}  // namespace sumac

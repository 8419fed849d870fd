// SPDX-License-Identifier: BSD-3-Clause
// These functions of the MPI are called with the types of its own <mpi.h>: they are given
// functions, or only some families have them.
#pragma once

#include <mpi.h>

#include "interpose/stub/stub.h"

namespace sumac {

// These convert to and from Fortran's handles; they are macros if C's are the same integers.
#if defined(MPI_Op_c2f)
#define SUMAC_FUNCTIONS_OF_FAMILY(X)
#elif defined(SUMAC_MPI_ABI)
#define SUMAC_FUNCTIONS_OF_FAMILY(X) \
  X(Comm_create_errhandler) X(Op_toint) X(Op_fromint) X(Type_fromint)
#else
#define SUMAC_FUNCTIONS_OF_FAMILY(X) X(Op_c2f) X(Op_f2c) X(Type_f2c)
#endif
#define SUMAC_SPECIAL_FUNCTIONS(X) \
  X(Comm_create_keyval)            \
  X(Type_create_keyval) X(Grequest_start) X(Op_create) SUMAC_FUNCTIONS_OF_FAMILY(X)

struct SpecialFunctions {
#define SUMAC_DECLARE(name) decltype(&PMPI_##name) name = nullptr;
  SUMAC_SPECIAL_FUNCTIONS(SUMAC_DECLARE)
#undef SUMAC_DECLARE
};
extern SpecialFunctions special;

// Fills the table. Returns null, or the name of a function that this MPI lacks.
const char* find_special_functions(const sumac_stub& stub);

}  // namespace sumac

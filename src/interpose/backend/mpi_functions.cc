// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/mpi_functions.h"

#include <type_traits>

namespace sumac {

MpiFunctions mpi;

namespace {

template <class Function>
void set(Function& function, void* address) {
  function = reinterpret_cast<Function>(address);
}

// `missing` keeps the first name that was missing.
template <class Function>
void set_needed(Function& function, void* address, const char* name, const char*& missing) {
  set(function, address);
  if (!function && !missing) missing = name;
}

template <class Count, class Function>
void set_collective(Function& function, Form form, void* address, const char* name,
                    const char*& missing) {
  const bool in_every_mpi = std::is_same_v<Count, int> && form != Form::persistent;
  const char* ignored = nullptr;
  set_needed(function, address, name, in_every_mpi ? missing : ignored);
}

}  // namespace

const char* find_mpi_functions(const sumac_stub& stub) {
  const char* missing = nullptr;
#define SUMAC_LOOK_UP(name) set_needed(mpi.name, stub.lookup("PMPI_" #name), "MPI_" #name, missing);
  SUMAC_MPI_FUNCTIONS(SUMAC_LOOK_UP)
  SUMAC_MPI_FORTRAN(SUMAC_LOOK_UP)
#undef SUMAC_LOOK_UP
#define SUMAC_TAKE(name) set_needed(mpi.name, stub.real[SUMAC_CALL_##name], "MPI_" #name, missing);
  SUMAC_MPI_INTERCEPTED(SUMAC_TAKE)
#undef SUMAC_TAKE
#define SUMAC_MAY_LOOK_UP(name) set(mpi.name, stub.lookup("PMPI_" #name));
  SUMAC_MPI_FOUND_OR_NOT(SUMAC_MAY_LOOK_UP)
#undef SUMAC_MAY_LOOK_UP
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, collective, form, count) \
  set_collective<count>(mpi.name, Form::form, stub.real[SUMAC_CALL_##name], "MPI_" #name, missing);
#include "interpose/calls.def"
#undef SUMAC_CALL
  return missing;
}

}  // namespace sumac

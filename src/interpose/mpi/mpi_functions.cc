// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/mpi_functions.h"

#include <cstring>

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

template <Function function, class Count, class Pointer>
void set_collective(Pointer& pointer, Form form, const sumac_stub& stub, int call, const char* name,
                    const char*& missing) {
  constexpr bool large = std::is_same_v<Count, MPI_Count>;
  const bool in_every_mpi = !large && form != Form::persistent;
  const char* ignored = nullptr;
  // The stub shortens counts of parts; other large counts are split, see below.h.
  void* const* functions = large && has_parts(function) ? stub.below : stub.real;
  set_needed(pointer, functions[call], name, in_every_mpi ? missing : ignored);
}

}  // namespace

const char* find_mpi_functions(const sumac_stub& stub) {
  const char* missing = nullptr;
#define SUMAC_LOOK_UP(name) set_needed(mpi.name, stub.lookup("PMPI_" #name), "MPI_" #name, missing);
  SUMAC_MPI_FUNCTIONS(SUMAC_LOOK_UP)
  SUMAC_MPI_OF_FAMILY(SUMAC_LOOK_UP)
#undef SUMAC_LOOK_UP
#define SUMAC_TAKE(name) set_needed(mpi.name, stub.real[SUMAC_CALL_##name], "MPI_" #name, missing);
  SUMAC_MPI_INTERCEPTED(SUMAC_TAKE)
#undef SUMAC_TAKE
#define SUMAC_MAY_LOOK_UP(name) set(mpi.name, stub.lookup("PMPI_" #name));
  SUMAC_MPI_FOUND_OR_NOT(SUMAC_MAY_LOOK_UP)
#undef SUMAC_MAY_LOOK_UP
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count)                                      \
  set_collective<Function::function, count>(mpi.name, Form::form, stub, SUMAC_CALL_##name, \
                                            "MPI_" #name, missing);
#include "interpose/calls.def"
#undef SUMAC_CALL
  return missing;
}

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');  // too long for small stacks
  int length = 0;
  mpi.Get_library_version(text.data(), &length);
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace sumac

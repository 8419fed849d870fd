// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/family/call_below.h"
#include "interpose/family/special_functions.h"

namespace sumac {
namespace {

template <auto member>
void find(void* address, bool needed, const char* name, const char*& missing) {
  BelowOf<member>::set(address);
  if (needed && !address && !missing) missing = name;  // keeps the name of the first one
}

// The stub shortens large counts of parts; other large counts are split, see large_counts.cc.
template <Function function, class Count>
void* collective_at(const sumac_stub& stub, sumac_call call) {
  constexpr bool shortened = std::is_same_v<Count, MpiCount> && has_parts(function);
  return (shortened ? stub.below : stub.real)[call];
}

template <class Count>
constexpr bool is_in_every_mpi(Form form) {
  return !std::is_same_v<Count, MpiCount> && form != Form::persistent;
}

}  // namespace

const char* find_mpi_functions(const sumac_stub& stub) {
  const char* missing = nullptr;
#define SUMAC_FIND(name, ...) \
  find<&MpiFunctions::name>(stub.lookup("PMPI_" #name), true, "MPI_" #name, missing);
  SUMAC_MPI_FUNCTIONS(SUMAC_FIND)
#undef SUMAC_FIND
#define SUMAC_FIND(name, ...) \
  find<&MpiFunctions::name>(stub.real[SUMAC_CALL_##name], true, "MPI_" #name, missing);
  SUMAC_MPI_INTERCEPTED(SUMAC_FIND)
#undef SUMAC_FIND
#define SUMAC_FIND(name, ...) \
  find<&MpiFunctions::name>(stub.below[SUMAC_CALL_##name], false, "MPI_" #name, missing);
  SUMAC_MPI_INTERCEPTED_OR_NOT(SUMAC_FIND)
#undef SUMAC_FIND
#define SUMAC_FIND(name, ...) \
  find<&MpiFunctions::name>(stub.lookup("PMPI_" #name), false, "MPI_" #name, missing);
  SUMAC_MPI_FOUND_OR_NOT(SUMAC_FIND)
#undef SUMAC_FIND
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count)                                          \
  find<&MpiFunctions::name>(collective_at<Function::function, count>(stub, SUMAC_CALL_##name), \
                            is_in_every_mpi<count>(Form::form), "MPI_" #name, missing);
#define SUMAC_COUNTED(name, function, form)                                                 \
  find<&MpiFunctions::name>(stub.real[SUMAC_CALL_##name], is_in_every_mpi<int>(Form::form), \
                            "MPI_" #name, missing);
#include "interpose/calls.def"
#undef SUMAC_CALL
  return missing ? missing : find_special_functions(stub);
}

void* entry_of(sumac_call call) {
  switch (call) {
#define SUMAC_ENTRY(name, ...) \
  case SUMAC_CALL_##name:      \
    return reinterpret_cast<void*>(&BelowOf<&MpiFunctions::name>::enter);
    SUMAC_MPI_INTERCEPTED(SUMAC_ENTRY)
    SUMAC_MPI_INTERCEPTED_OR_NOT(SUMAC_ENTRY)
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count)
#define SUMAC_COUNTED(name, function, form) SUMAC_ENTRY(name)
#include "interpose/calls.def"
#undef SUMAC_CALL
#undef SUMAC_ENTRY
    default:
      return nullptr;  // Sumac serves it, see entry_points.cc
  }
}

}  // namespace sumac

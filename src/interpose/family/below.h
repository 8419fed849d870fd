// SPDX-License-Identifier: BSD-3-Clause
// This header has the way down to a function of the MPI, and the way up from the program to one of
// Sumac's.
#pragma once

#include "interpose/family/native.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// `member` is the function's place in MpiFunctions.
template <auto member, class Function>
struct Below;
template <auto member, class... Arguments>
struct Below<member, int (*MpiFunctions::*)(Arguments...)> {
  using Function = int (*)(NativeOf<Arguments>...);
  static inline Function function = nullptr;  // the MPI's function

  static int call(Arguments... arguments) { return function(to_native(arguments)...); }
  static void set(void* address) {
    function = reinterpret_cast<Function>(address);
    mpi.*member = address ? &call : nullptr;
  }
  // The program calls this if a function stands before the MPI's.
  static int enter(NativeOf<Arguments>... arguments) {
    return (in_front.*member)(from_native<Arguments>(arguments)...);
  }
};
template <auto member>
using BelowOf = Below<member, decltype(member)>;

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This is the way down to the MPI: it calls the MPI's own function for a call, with the call's
// arguments.
#pragma once

#include <climits>
#include <type_traits>

#include "interpose/family/native.h"
#include "interpose/mpi/call.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// This header has the way down to a function of the MPI, and the way up from the program to one of
// Sumac's.

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

// This is the place of a function in the table, by row of calls.def instead of by name.
template <Function, Form, class Count>
inline constexpr std::nullptr_t kMember = nullptr;
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count) \
  template <>                                         \
  inline constexpr auto kMember<Function::function, Form::form, count> = &MpiFunctions::name;
#include "interpose/calls.def"
#undef SUMAC_CALL

// Serves a call with a large count if the MPI has int counts only. There is nothing like it for a
// deferred call, which would have to keep what is made for it until it has ended.
template <Function function, Form form>
int below_without_large_counts(const Call& call, int (*below)(const Call&)) {
  if (call.receive.count <= INT_MAX) return below(call);
  constexpr bool waits = form == Form::blocking || form == Form::local;
  if constexpr (waits && function == Function::bcast) return as_one_element(call, below);
  if constexpr (waits && function != Function::bcast) return in_parts(call, below);
  return refuse_count(call);
}

template <Function function, Form form, class Count>
int call_below(const Call& call) {
  using Member = BelowOf<kMember<function, form, Count>>;
  if (Member::function) return call_mpi<function, form, Count>(Member::function, call);
  if constexpr (std::is_same_v<Count, MpiCount> && !has_parts(function)) {
    return below_without_large_counts<function, form>(call, call_below<function, form, int>);
  }
  return kMpi.err_other;
}

template <Function function, Form form, class Count>
inline constexpr CallKind kKind{function, info_of(collective_of(function)), form,
                                std::is_same_v<Count, MpiCount>, call_below<function, form, Count>};

}  // namespace sumac

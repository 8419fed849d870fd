// SPDX-License-Identifier: BSD-3-Clause
// The way down to the MPI: its own function for a call, with the call's arguments.
#pragma once

#include <climits>
#include <type_traits>

#include "interpose/mpi/mpi_functions.h"

namespace sumac {

// The table of the MPI's functions, by row of calls.def instead of by name.
template <Function, Form, class Count>
inline constexpr std::nullptr_t kBelow = nullptr;
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count) \
  template <>                                         \
  inline constexpr auto kBelow<Function::function, Form::form, count> = &MpiFunctions::name;
#include "interpose/calls.def"
#undef SUMAC_CALL

// Serves a reduction of more elements than an int can count, part by part; `part` is the MPI's
// function with int counts.
int in_parts(const Call& reduction, int (*part)(const Call&));
int as_one_element(const Call& bcast, int (*whole)(const Call&));
// Refuses a call that only an MPI with large counts could do without Sumac.
int refuse_count(const Call& call);

// The function that serves a call with a large count where the MPI has int counts only. There is
// none for a deferred call, which would have to keep what is made for it until it has ended.
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
  const auto below = mpi.*kBelow<function, form, Count>;
  if (below) return call_mpi<function, form, Count>(below, call);
  if constexpr (std::is_same_v<Count, MPI_Count> && !has_parts(function)) {
    return below_without_large_counts<function, form>(call, call_below<function, form, int>);
  }
  return MPI_ERR_OTHER;
}

template <Function function, Form form, class Count>
inline constexpr CallKind kKind{function, collective_of(function), form,
                                std::is_same_v<Count, MPI_Count>,
                                call_below<function, form, Count>};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// SMPI's own collectives, as rows of interpose/calls.def: those that block or do not, with int
// counts.
#pragma once

#include "interpose/family/native.h"

namespace sumac::simulated {

inline constexpr CallKind kSmpiCalls[] = {
#define SUMAC_CALL(name)
#define SUMAC_SMPI_int_blocking(name, function) SUMAC_SMPI_ROW(name, function, blocking)
#define SUMAC_SMPI_int_nonblocking(name, function) SUMAC_SMPI_ROW(name, function, nonblocking)
#define SUMAC_SMPI_int_local(name, function)
#define SUMAC_SMPI_int_persistent(name, function)
#define SUMAC_SMPI_MpiCount_blocking(name, function)
#define SUMAC_SMPI_MpiCount_nonblocking(name, function)
#define SUMAC_SMPI_MpiCount_local(name, function)
#define SUMAC_SMPI_MpiCount_persistent(name, function)
#define SUMAC_SMPI_ROW(name, function, form)                                                 \
  {Function::function, info_of(collective_of(Function::function)), Form::form, false,        \
   [](const Call& call) {                                                                    \
     return call_mpi<Function::function, Form::form, int>(                                   \
         reinterpret_cast<NativeFunction<Function::function, Form::form, int>>(PMPI_##name), \
         call);                                                                              \
   }},
#define SUMAC_COLLECTIVE(name, function, form, count) SUMAC_SMPI_##count##_##form(name, function)
#include "interpose/calls.def"
#undef SUMAC_CALL
};

// The first row of a function, or of a collective, in that form.
constexpr const CallKind& smpi_call(Function function, Form form) {
  const CallKind* row = kSmpiCalls;
  while (row->function != function || row->form != form) ++row;
  return *row;
}
constexpr const CallKind& smpi_call(Collective collective, Form form) {
  const CallKind* row = kSmpiCalls;
  while (row->info.collective != collective || row->form != form) ++row;
  return *row;
}

}  // namespace sumac::simulated

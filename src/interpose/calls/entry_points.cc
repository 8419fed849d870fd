// SPDX-License-Identifier: BSD-3-Clause
// The functions that stand before the MPI's collectives, made of the rows of calls.def. Each turns
// its arguments into a Call, which goes one way: decide(), then perform().
//
// A new collective: its rows in calls.def, its Signature, its case in decide.cc and in
// call_data.cc, and its algorithms.
#include "interpose/calls/calls.h"
#include "interpose/calls/perform.h"
#include "interpose/calls/reduce_local.h"
#include "interpose/mpi/below.h"
#include "interpose/process/timed.h"
#include "interpose/profile/profile.h"
#include "interpose/profile/profiled_calls.h"

namespace sumac {
namespace {

int serve(const Call& call) {
  PendingException* thrown = nullptr;
  int error;
  {
    Entry entry(call.collective());
    Decision decision = decide(entry, call);
    error = perform(entry, call, decision);
    if (decision.by_user) [[unlikely]]
      thrown = &decision.communicator->fold.exception();
  }
  // Nothing of the call is left: the exception continues in the program.
  if (thrown && *thrown) [[unlikely]]
    thrown->leave();
  return error;
}

template <Function function, Form form, class Count, class = FirstOf<function, Count>,
          class = LastOf<form>>
struct EntryPoint;

template <Function function, Form form, class Count, class... Arguments, class... Last>
struct EntryPoint<function, form, Count, std::tuple<Arguments...>, std::tuple<Last...>> {
  template <bool profiled>
  static int call(Arguments... arguments, Last... last) {
    Call made{kKind<function, form, Count>};
    Signature<function, Count>::read(made, arguments...);
    Ending<form>::read(made, last...);
    if constexpr (profiled) return serve_profiled(made, __builtin_return_address(0));
    if constexpr (form == Form::local) return reduce_local(made);
    return serve(made);
  }
};

template <Function function, Form form, class Count>
void* entry_point() {
  using Entries = EntryPoint<function, form, Count>;
  if (calls_are_profiled()) return reinterpret_cast<void*>(&Entries::template call<true>);
  constexpr auto entry = &Entries::template call<false>;
  // For persistent operations the starts are timed instead.
  if constexpr (form == Form::persistent) return reinterpret_cast<void*>(entry);
  return entry_of<collective_of(function), entry>();
}

}  // namespace

void redirect_collectives(const sumac_stub& stub) {
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count) \
  stub.redirect(SUMAC_CALL_##name, entry_point<Function::function, Form::form, count>());
#include "interpose/calls.def"
#undef SUMAC_CALL
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The functions that stand before the MPI's collectives, made of the rows of calls.def. Each turns
// its arguments into a Call, which goes one way: decide(), then perform().
//
// A new collective: its rows in calls.def, its Signature, its case in decide.cc and in
// call_data.cc, and its algorithms.
#include "interpose/backend/below.h"
#include "interpose/backend/calls.h"
#include "interpose/backend/perform.h"
#include "interpose/backend/reduce_local.h"
#include "interpose/backend/timed.h"

namespace sumac {
namespace {

int serve(const Call& call) {
  PendingException* thrown = nullptr;
  int error;
  {
    Entry entry(call.collective());
    const Decision decision = decide(entry, call);
    error = perform(entry, call, decision);
    if (decision.by_user) [[unlikely]]
      thrown = &decision.communicator->fold.exception();
  }
  // Once nothing of the call is left: the exception goes on in the program.
  if (thrown && *thrown) [[unlikely]]
    thrown->leave();
  return error;
}

template <Collective collective, Form form, class Count, class = FirstOf<collective, Count>,
          class = LastOf<form>>
struct EntryPoint;

template <Collective collective, Form form, class Count, class... Arguments, class... Last>
struct EntryPoint<collective, form, Count, std::tuple<Arguments...>, std::tuple<Last...>> {
  static int function(Arguments... arguments, Last... last) {
    Call call{kKind<collective, form, Count>};
    Signature<collective, Count>::read(call, arguments...);
    Ending<form>::read(call, last...);
    if constexpr (form == Form::local) return reduce_local(call);
    return serve(call);
  }
};

template <Collective collective, Form form, class Count>
void* entry_point() {
  constexpr auto function = EntryPoint<collective, form, Count>::function;
  // Of persistent operations the starts are timed.
  if constexpr (form == Form::persistent) return reinterpret_cast<void*>(function);
  return entry_of<collective, function>();
}

}  // namespace

void redirect_collectives(const sumac_stub& stub) {
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, collective, form, count) \
  stub.redirect(SUMAC_CALL_##name, entry_point<Collective::collective, Form::form, count>());
#include "interpose/calls.def"
#undef SUMAC_CALL
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// These functions stand before the MPI's collectives. They are made from the rows of calls.def, and
// compiled for each family of MPIs. Each turns its arguments into a Call, which goes one way:
// decide(), then perform().
//
// HACKING.md lists what a new collective needs.
#include "interpose/backend/backend.h"
#include "interpose/calls/calls.h"
#include "interpose/calls/perform.h"
#include "interpose/calls/reduce_local.h"
#include "interpose/family/call_below.h"
#include "interpose/family/native.h"
#include "interpose/mpi/callbacks.h"
#include "interpose/process/timed.h"
#include "interpose/requests/requests.h"
#include "interpose/watch/profile.h"

namespace sumac {
namespace {

// Carries a decided call out.
template <Form form>
int perform(Entry& entry, const Call& call, const Decision& decision) {
  if constexpr (form == Form::nonblocking) return perform_nonblocking(entry, call, decision);
  if constexpr (form == Form::persistent) return perform_persistent(entry, call, decision);
  return perform_now(entry, call, decision);
}

template <Form form>
int serve(const Call& call) {
  PendingException* thrown = nullptr;
  int error;
  {
    Entry entry(call.collective());
    const Decision decision = decide(entry, call);
    error = perform<form>(entry, call, decision);
    if (decision.by_user) [[unlikely]]
      thrown = &decision.communicator->fold.exception();
  }
  // Nothing of the call is left, so the exception can go on in the program.
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
  static int call(NativeOf<Arguments>... arguments, NativeOf<Last>... last) {
    Call made{kKind<function, form, Count>};
    Signature<function, Count>::read(made, from_native<Arguments>(arguments)...);
    Ending<form>::read(made, from_native<Last>(last)...);
    if constexpr (profiled) return serve_profiled(made, __builtin_return_address(0));
    return serve<form>(made);
  }
};

// MPI_Reduce_local makes a Call of its arguments only to hand it down.
template <class Count>
struct LocalEntryPoint {
  static int call(const void* in, void* inout, Count count, NativeOf<MpiDatatype> native_type,
                  NativeOf<MpiOp> native_op) {
    Entry entry(Collective::reduce_local);
    const auto type = from_native<MpiDatatype>(native_type);
    const auto op = from_native<MpiOp>(native_op);
    const LocalData data{in, inout, count, type, op};
    Reason reason;
    const KnownReduction* const found = judge_local(entry, data, reason);
    if (!found) [[unlikely]]
      return hand_down(entry, reason, in, inout, count, type, op);
    return serve_local(entry, data, found);
  }
  [[gnu::cold, gnu::noinline]] static int hand_down(Entry& entry, Reason reason, const void* in,
                                                    void* inout, Count count, MpiDatatype type,
                                                    MpiOp op) {
    Call made{kKind<Function::reduce_local, Form::local, Count>};
    Signature<Function::reduce_local, Count>::read(made, in, inout, count, type, op);
    return hand_down_local(entry, made, reason);
  }
};

template <Function function, Form form, class Count>
void* entry_point() {
  using Entries = EntryPoint<function, form, Count>;
  if (calls_are_profiled()) return reinterpret_cast<void*>(&Entries::template call<true>);
  if constexpr (form == Form::local) {
    return entry_of<Collective::reduce_local, &LocalEntryPoint<Count>::call>();
  } else {
    constexpr auto entry = &Entries::template call<false>;
    // The starts of persistent operations are timed instead.
    if constexpr (form == Form::persistent) return reinterpret_cast<void*>(entry);
    return entry_of<collective_of(function), entry>();
  }
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

// These are the functions of sumac.h about operations and types, as the stub finds them in a back
// end.
#define SUMAC_EXPORT extern "C" __attribute__((visibility("default")))

using sumac::MpiDatatype, sumac::MpiOp, sumac::OpPointer, sumac::from_native;

SUMAC_EXPORT int sumac_backend_op_create(int kind, int flags, MPI_Op* op) {
  return sumac::create_known_operation(kind, flags, OpPointer(op));
}

SUMAC_EXPORT int sumac_backend_hint_type(MPI_Datatype type, int element) {
  return sumac::hint_type(from_native<MpiDatatype>(type), element);
}

SUMAC_EXPORT int sumac_backend_hint_op(MPI_Op op, int kind) {
  return sumac::hint_op(from_native<MpiOp>(op), kind);
}

SUMAC_EXPORT int sumac_backend_op_create_f(int kind, int flags, int* op) {
  MpiOp created = sumac::kMpi.op_null;
  const int error = sumac::create_known_operation(kind, flags, one(created));
  if (error == sumac::kMpiSuccess) *op = sumac::fortran_of(created);
  return error;
}

SUMAC_EXPORT int sumac_backend_hint_type_f(const int* type, int element) {
  return sumac::hint_type(sumac::type_of_fortran(*type), element);
}

SUMAC_EXPORT int sumac_backend_hint_op_f(const int* op, int kind) {
  return sumac::hint_op(sumac::op_of_fortran(*op), kind);
}

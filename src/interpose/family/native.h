// SPDX-License-Identifier: BSD-3-Clause
// Between the types of handle_types.h and those of an MPI's <mpi.h>: which arguments a function of
// the MPI has, and how they are made.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <tuple>

#include "interpose/mpi/signatures.h"

namespace sumac {

// MpiAint and MpiCount are passed for them, also behind pointers.
static_assert(sizeof(::MPI_Aint) == sizeof(MpiAint) && sizeof(::MPI_Count) == sizeof(MpiCount));

// The bits of a handle of <mpi.h>.
template <class NativeHandle>
std::uintptr_t bits_of(NativeHandle handle) {
  if constexpr (sizeof handle == sizeof(std::uint32_t)) {
    return static_cast<std::uint32_t>(handle);
  } else {
    return reinterpret_cast<std::uintptr_t>(handle);
  }
}

template <class T>
struct Native {
  using Type = T;
  static Type to(T value) { return value; }
  static T from(Type value) { return value; }
};

template <class H, class NativeHandle>
struct NativeHandleOf {
  using Type = NativeHandle;
  static Type to(H handle) {
    if constexpr (sizeof(Type) == sizeof(std::uint32_t)) {
      return static_cast<Type>(handle.bits);
    } else {
      return reinterpret_cast<Type>(handle.bits);
    }
  }
  static H from(Type handle) { return {bits_of(handle)}; }
};
template <>
struct Native<MpiComm> : NativeHandleOf<MpiComm, ::MPI_Comm> {};
template <>
struct Native<MpiDatatype> : NativeHandleOf<MpiDatatype, ::MPI_Datatype> {};
template <>
struct Native<MpiErrhandler> : NativeHandleOf<MpiErrhandler, ::MPI_Errhandler> {};
template <>
struct Native<MpiGroup> : NativeHandleOf<MpiGroup, ::MPI_Group> {};
template <>
struct Native<MpiInfo> : NativeHandleOf<MpiInfo, ::MPI_Info> {};
template <>
struct Native<MpiOp> : NativeHandleOf<MpiOp, ::MPI_Op> {};
template <>
struct Native<MpiRequest> : NativeHandleOf<MpiRequest, ::MPI_Request> {};
template <>
struct Native<MpiWin> : NativeHandleOf<MpiWin, ::MPI_Win> {};

template <class P, class NativePointer>
struct NativePointerOf {
  using Type = NativePointer;
  static Type to(P pointer) { return static_cast<Type>(pointer.address()); }
  static P from(Type pointer) { return P(pointer); }
};
template <class H>
struct Native<HandlePointer<H>> : NativePointerOf<HandlePointer<H>, typename Native<H>::Type*> {};
template <>
struct Native<StatusPointer> : NativePointerOf<StatusPointer, ::MPI_Status*> {};

template <class T>
using NativeOf = typename Native<T>::Type;
template <class T>
NativeOf<T> to_native(T value) {
  return Native<T>::to(value);
}
template <class T>
T from_native(NativeOf<T> value) {
  return Native<T>::from(value);
}

// The MPI's function for a row of calls.def, but for `const` of what its arguments point to.
template <class Function>
struct NativeFunctionOf;
template <class... Arguments>
struct NativeFunctionOf<int (*)(Arguments...)> {
  using Type = int (*)(NativeOf<Arguments>...);
  static int call(Type function, Arguments... arguments) {
    return function(to_native(arguments)...);
  }
};
template <Function function, Form form, class Count>
using NativeFunction = typename NativeFunctionOf<MpiFunction<function, form, Count>>::Type;

// Calls it with the call's arguments.
template <Function function, Form form, class Count>
int call_mpi(NativeFunction<function, form, Count> native, const Call& call) {
  return std::apply(NativeFunctionOf<MpiFunction<function, form, Count>>::call,
                    std::tuple_cat(std::tuple(native), Signature<function, Count>::write(call),
                                   Ending<form>::write(call)));
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This header converts between the types of handle_types.h and those of the family's MPI: which
// arguments a function of the MPI has, and how they are made. The functions are known by address
// alone, so that two types of the same size and class are the same here.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/mpi/handle_types.h"

namespace sumac {

static_assert(sizeof(::MPI_Aint) == sizeof(MpiAint) && sizeof(::MPI_Count) == sizeof(MpiCount));
static_assert(sizeof(::MPI_Comm) == sizeof(::MPI_Datatype) &&
              sizeof(::MPI_Comm) == sizeof(::MPI_Request));

// This is a handle of the MPI's as an integer of its size: both are passed in the same way.
using NativeHandle =
    std::conditional_t<sizeof(::MPI_Comm) == sizeof(std::uint32_t), std::uint32_t, std::uintptr_t>;

template <class T>
struct Native {
  using Type = T;
  static Type to(T value) { return value; }
  static T from(Type value) { return value; }
};
template <class Tag>
struct Native<Handle<Tag>> {
  using Type = NativeHandle;
  static Type to(Handle<Tag> handle) { return static_cast<NativeHandle>(handle.bits); }
  static Handle<Tag> from(Type handle) { return {handle}; }
};
template <class H>
struct Native<HandlePointer<H>> {
  using Type = void*;
  static Type to(HandlePointer<H> handles) { return handles.address(); }
  static HandlePointer<H> from(Type address) { return HandlePointer<H>(address); }
};
template <>
struct Native<StatusPointer> {
  using Type = void*;
  static Type to(StatusPointer status) { return status.address(); }
  static StatusPointer from(Type address) { return StatusPointer(address); }
};

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

// Returns the bits of a handle of <mpi.h>.
template <class Handle>
std::uintptr_t bits_of(Handle handle) {
  if constexpr (sizeof handle == sizeof(std::uint32_t)) {
    return static_cast<std::uint32_t>(handle);
  } else {
    return reinterpret_cast<std::uintptr_t>(handle);
  }
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local and MPI_Reduce_local_c: inout = in op inout.
#include "interpose/backend/calls.h"
#include "interpose/backend/reduction.h"
#include "interpose/backend/user_handles.h"

namespace sumac {
namespace {

template <class Native>
int reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 Native native) {
  Entry entry(Collective::reduce_local);
  const auto hand_down = [&](Reason reason) {
    entry.hand_down(reason);
    return native();
  };
  if (entry.nested()) return hand_down(Reason::nested);
  if (!collective_is_on(Collective::reduce_local)) return hand_down(Reason::left_out);
  if (!mpi_is_up()) return hand_down(Reason::not_ready);
  const Op* operation = find_any_op(op);
  const TypeInfo* info = operation ? find_any_type(type) : nullptr;
  const ReduceFn kernel = info ? find_kernel(*info, *operation) : nullptr;
  if (!kernel) return hand_down(no_kernel_reason(op, operation));
  if (device_memory_possible()) return hand_down(Reason::device);
  if (count < 0 || !in || !inout || in == MPI_IN_PLACE || inout == MPI_IN_PLACE || in == inout) {
    return hand_down(Reason::arguments);
  }
  const auto n = static_cast<std::size_t>(count);
  constexpr bool kMayUseThreads = true;
  reduce_in_place(kernel, in, inout, n, info->extent, kMayUseThreads);
  entry.take_locally(n * info->extent);
  return MPI_SUCCESS;
}

int reduce_local_int(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
  return reduce_local(in, inout, count, type, op,
                      [&] { return mpi.Reduce_local(in, inout, count, type, op); });
}

int reduce_local_c(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op) {
  return reduce_local(in, inout, count, type, op, [&] {
    if (mpi.Reduce_local_c) return mpi.Reduce_local_c(in, inout, count, type, op);
    return reduce_in_parts(in, inout, count, type, [&](const void* from, void* to, int part) {
      return mpi.Reduce_local(from, to, part, type, op);
    });
  });
}

}  // namespace

void redirect_reduce_local(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Reduce_local, reinterpret_cast<void*>(reduce_local_int));
  stub.redirect(SUMAC_CALL_Reduce_local_c, reinterpret_cast<void*>(reduce_local_c));
}

}  // namespace sumac

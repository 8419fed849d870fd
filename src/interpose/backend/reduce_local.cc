// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local and MPI_Reduce_local_c: inout = in op inout.
#include <atomic>
#include <new>

#include "interpose/backend/calls.h"
#include "interpose/backend/reduction.h"
#include "interpose/backend/user_handles.h"

namespace sumac {
namespace {

// What has been found out of a pair of predefined handles: a reduction of a few elements takes less
// time than looking both up.
struct Known {
  MPI_Datatype type;
  MPI_Op op;
  ReduceFn kernel;
  std::size_t extent;
};

// First come, first kept; what is in it while MPI is up is never freed.
constexpr int kPlaceBits = 6;
std::atomic<const Known*> known_pairs[1 << kPlaceBits];

std::atomic<const Known*>& place_of(MPI_Datatype type, MPI_Op op) {
  const std::uint64_t key = handle_bits(type) * 3 + handle_bits(op);
  return known_pairs[key * 0x9e3779b97f4a7c15ull >> (64 - kPlaceBits)];
}

void remember(const Known& pair) {
  if (!find_known_type(pair.type) || !find_op(pair.op)) return;  // could be freed, and come back
  const Known* empty = nullptr;
  const Known* entry = new (std::nothrow) Known(pair);
  if (!place_of(pair.type, pair.op).compare_exchange_strong(empty, entry)) delete entry;
}

// Fills `pair`, or tells why the MPI should do it.
bool find_pair(Known& pair, Reason& reason) {
  const Known* known = place_of(pair.type, pair.op).load(std::memory_order_acquire);
  if (known && known->type == pair.type && known->op == pair.op) [[likely]] {
    pair = *known;
    return true;
  }
  reason = Reason::left_out;
  if (!collective_is_on(Collective::reduce_local)) return false;
  reason = Reason::not_ready;
  if (!mpi_is_up()) return false;
  const Op* operation = find_any_op(pair.op);
  const TypeInfo* info = operation ? find_any_type(pair.type) : nullptr;
  pair.kernel = info ? find_kernel(*info, *operation) : nullptr;
  reason = no_kernel_reason(pair.op, operation);
  if (!pair.kernel) return false;
  pair.extent = info->extent;
  remember(pair);
  return true;
}

template <class Native>
int reduce_local(const void* in, void* inout, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 Native native) {
  Entry entry(Collective::reduce_local);
  const auto hand_down = [&](Reason reason) {
    entry.hand_down(reason);
    return native();
  };
  if (entry.nested()) return hand_down(Reason::nested);
  Known pair{type, op, nullptr, 0};
  Reason reason;
  if (!find_pair(pair, reason)) return hand_down(reason);
  if (device_memory_possible()) return hand_down(Reason::device);
  if (count < 0 || !in || !inout || in == MPI_IN_PLACE || inout == MPI_IN_PLACE || in == inout) {
    return hand_down(Reason::arguments);
  }
  const auto n = static_cast<std::size_t>(count);
  constexpr bool kMayUseThreads = true;
  reduce_in_place(pair.kernel, in, inout, n, pair.extent, kMayUseThreads);
  entry.take_locally(n * pair.extent);
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

void forget_known_pairs() {
  for (auto& place : known_pairs) delete place.exchange(nullptr);
}

void redirect_reduce_local(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Reduce_local, entry_of<Collective::reduce_local, reduce_local_int>());
  stub.redirect(SUMAC_CALL_Reduce_local_c, entry_of<Collective::reduce_local, reduce_local_c>());
}

}  // namespace sumac

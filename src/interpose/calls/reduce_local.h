// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local: inout = in op inout, in this process alone.
#pragma once

#include "interpose/calls/call.h"
#include "interpose/calls/known_reductions.h"
#include "interpose/process/process.h"
#include "tasks/threads.h"

namespace sumac {

// inout[i] = in[i] op inout[i], by several threads.
void reduce_by_threads(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                       std::size_t extent);

// The same, by several threads where they may be used and are worth it.
inline void reduce_in_place(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                            std::size_t extent, bool may_use_threads) {
  if (may_use_threads && worth_threads(count * extent)) [[unlikely]]
    return reduce_by_threads(kernel, in, inout, count, extent);
  const void* sources[] = {in, inout};
  kernel(inout, sources, 2, count);
}

// Returns null, with the reason, where the MPI should serve the call.
inline const KnownReduction* judge_local(const Entry& entry, const Call& call, Reason& reason) {
  const Data& data = call.receive;
  reason = Reason::nested;
  if (entry.nested()) return nullptr;
  reason = Reason::left_out;
  if (!collective_is_on(Collective::reduce_local)) return nullptr;
  reason = Reason::not_ready;
  if (!mpi_is_up()) return nullptr;
  const KnownReduction* found = find_reduction(data.type, call.op, reason);
  if (!found) return nullptr;
  reason = Reason::device;
  if (device_memory_possible()) return nullptr;
  reason = Reason::arguments;
  const void *in = call.send.address, *inout = data.address;
  const bool wrong =
      data.count < 0 || !in || !inout || in == MPI_IN_PLACE || inout == MPI_IN_PLACE || in == inout;
  return wrong ? nullptr : found;
}

// By value: arguments whose address is not passed on can stay in registers.
int hand_down_local(Entry& entry, const Call call, Reason reason);

// Serves the call, or hands it down. Inline, as a reduction of a few elements takes less time than
// to store the call's arguments and load them again.
inline int reduce_local(const Call& call) {
  Entry entry(Collective::reduce_local);
  Reason reason;
  const KnownReduction* const found = judge_local(entry, call, reason);
  if (!found) [[unlikely]]
    return hand_down_local(entry, call, reason);
  const auto count = static_cast<std::size_t>(call.receive.count);
  const std::size_t extent = found->type.extent;
  constexpr bool kMayUseThreads = true;
  reduce_in_place(found->kernel, call.send.address, call.receive.address, count, extent,
                  kMayUseThreads);
  entry.take_locally(count * extent);
  return MPI_SUCCESS;
}

}  // namespace sumac

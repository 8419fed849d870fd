// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local computes inout = in op inout, in this process alone.
#pragma once

#include "devices/where.h"
#include "interpose/mpi/call.h"
#include "interpose/mpi/known_reductions.h"
#include "interpose/process/entry.h"
#include "tasks/threads.h"

namespace sumac {

// Computes inout[i] = in[i] op inout[i], by several threads.
void reduce_by_threads(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                       std::size_t extent);

// Does the same, by several threads if they may be used and are worth it.
inline void reduce_in_place(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                            std::size_t extent, bool may_use_threads) {
  if (may_use_threads && worth_threads(count * extent)) [[unlikely]]
    return reduce_by_threads(kernel, in, inout, count, extent);
  const void* sources[] = {in, inout};
  kernel(inout, sources, 2, count);
}

// These are the arguments of a call.
struct LocalData {
  const void* in;
  void* inout;
  MpiCount count;
  MpiDatatype type;
  MpiOp op;
};

// Returns null, with the reason, if the MPI should serve the call.
inline const KnownReduction* judge_local(const Entry& entry, LocalData data, Reason& reason) {
  reason = Reason::nested;
  if (entry.nested()) return nullptr;
  reason = Reason::left_out;
  if (!collective_is_on(Collective::reduce_local)) return nullptr;
  reason = Reason::not_ready;
  if (!mpi_is_up()) return nullptr;
  const KnownReduction* found = find_reduction(data.type, data.op, reason);
  if (!found) return nullptr;
  reason = Reason::device;
  if (device_memory_possible()) return nullptr;
  if (looks_at_buffers() && (is_on_device(data.in) || is_on_device(data.inout))) return nullptr;
  reason = Reason::arguments;
  const bool wrong = data.count < 0 || !data.in || !data.inout || data.in == kMpi.in_place ||
                     data.inout == kMpi.in_place || data.in == data.inout;
  return wrong ? nullptr : found;
}

int hand_down_local(Entry& entry, const Call& call, Reason reason);

// Serves the call by what judge_local() has found. Both are inline, and have the arguments in
// registers: a reduction of a few elements takes less time than to store them and load them again.
inline int serve_local(Entry& entry, LocalData data, const KnownReduction* found) {
  const auto count = static_cast<std::size_t>(data.count);
  const std::size_t extent = found->type.extent;
  constexpr bool kMayUseThreads = true;
  reduce_in_place(found->kernel, data.in, data.inout, count, extent, kMayUseThreads);
  entry.take_locally(count * extent);
  return kMpiSuccess;
}

}  // namespace sumac

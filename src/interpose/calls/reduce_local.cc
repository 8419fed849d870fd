// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/reduce_local.h"

#include "algorithms/in_pieces.h"
#include "interpose/calls/call_size.h"

namespace sumac {
namespace {

// Returns null, with the reason, where the MPI should serve the call.
const KnownReduction* judge(const Entry& entry, const Call& call, Reason& reason) {
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
[[gnu::noinline, gnu::cold]] int hand_down(Entry& entry, const Call call, Reason reason) {
  const int error = call.kind.below(call);
  const bool known = error == MPI_SUCCESS && mpi_is_up();
  entry.hand_down(reason, known ? size_of_data(call.receive.type, call.receive.count).bytes : 0);
  return error;
}

}  // namespace

void reduce_in_place(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                     std::size_t extent, bool may_use_threads) {
  const void* sources[] = {in, inout};
  if (!may_use_threads || !worth_threads(count * extent)) return kernel(inout, sources, 2, count);
  const UseThreads threads(true);
  in_pieces(inout, count, extent, [&](std::size_t first, std::size_t part) {
    char* to = static_cast<char*>(inout) + first * extent;
    const void* from[] = {static_cast<const char*>(in) + first * extent, to};
    kernel(to, from, 2, part);
  });
}

int reduce_local(const Call& call) {
  Entry entry(Collective::reduce_local);
  Reason reason;
  const KnownReduction* const found = judge(entry, call, reason);
  if (!found) [[unlikely]]
    return hand_down(entry, call, reason);
  const auto count = static_cast<std::size_t>(call.receive.count);
  constexpr bool kMayUseThreads = true;
  reduce_in_place(found->kernel, call.send.address, call.receive.address, count, found->type.extent,
                  kMayUseThreads);
  entry.take_locally(count * found->type.extent);
  return MPI_SUCCESS;
}

}  // namespace sumac

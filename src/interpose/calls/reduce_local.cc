// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/reduce_local.h"

#include "algorithms/in_pieces.h"
#include "interpose/calls/call_text.h"
#include "interpose/calls/device_data.h"
#include "interpose/mpi/mpi_functions.h"

namespace sumac {

void reduce_by_threads(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                       std::size_t extent) {
  const UseThreads threads(true);
  in_pieces(inout, count, extent, [&](std::size_t first, std::size_t part) {
    char* to = static_cast<char*>(inout) + first * extent;
    const void* from[] = {static_cast<const char*>(in) + first * extent, to};
    kernel(to, from, 2, part);
  });
}

// Serves a call whose data are in a GPU's memory.
static int serve_staged(Entry& entry, const Call& call) {
  DeviceData data(call, places_of(call));
  const Call& staged = data.call();
  const LocalData moved{staged.send.address, staged.receive.address, call.receive.count,
                        call.receive.type, call.op};
  Reason reason;
  data.load();
  serve_local(entry, moved, find_reduction(call.receive.type, call.op, reason));
  data.deliver();
  return kMpiSuccess;
}

int hand_down_local(Entry& entry, const Call& call, Reason reason) {
  const bool stages = reason == Reason::device && !device_memory_possible() &&
                      call.receive.count > 0 && !mpi_takes_devices();
  if (stages) return serve_staged(entry, call);
  const int error = call.kind.below(call);
  const bool known = error == kMpiSuccess && mpi_is_up();
  entry.hand_down(reason, known ? size_of_data(call.receive.type, call.receive.count).bytes : 0);
  return error;
}

}  // namespace sumac

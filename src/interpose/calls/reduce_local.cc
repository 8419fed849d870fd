// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/reduce_local.h"

#include "algorithms/in_pieces.h"
#include "interpose/calls/call_text.h"

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

int hand_down_local(Entry& entry, const Call& call, Reason reason) {
  const int error = call.kind.below(call);
  const bool known = error == kMpiSuccess && mpi_is_up();
  entry.hand_down(reason, known ? size_of_data(call.receive.type, call.receive.count).bytes : 0);
  return error;
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Broadcast through the lines of the root's slot.
//   Steps    1; the root does not wait for the others until the ring is full
//   Bytes    the root writes n, each other rank reads n
//   Wins     small messages
//   Needs    slots, n <= kLinesData
#include "algorithms/lines.h"
#include "algorithms/functions.h"

namespace sumac::bcast {

Task lines(Strand& strand, ShmGroup& group, const BcastArguments& args) {
  const std::uint64_t position = group.take(1, {.lines = lines_for(args.bytes)});
  if (group.rank() == args.root) {
    co_await strand.until(group.slot_free(position));
    put_lines(group, position, args.buffer, args.bytes);
  } else {
    co_await strand.until(group.lines_in(args.root, position, lines_for(args.bytes)));
    take_lines(group, args.root, position, args.buffer, args.bytes);
  }
  group.finish(position);
}

Traffic lines_cost(const GroupCall& call) {
  const int lines = lines_for(call.bytes);
  return through_lines(1, call.bytes, 1, {lines, lines});
}

}  // namespace sumac::bcast

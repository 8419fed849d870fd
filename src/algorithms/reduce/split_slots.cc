// SPDX-License-Identifier: BSD-3-Clause
// Reduce over slots, the work split. As the all-reduce of that name, but only the root copies the
// results out: each rank folds its own part of every chunk and leaves the result in its slot.
//   Steps    2 a chunk, pipelined
//   Bytes    a rank copies n(p-1)/p and folds n in all; the root copies n(p-1)/p more
//   Wins     large messages of three ranks and more, where single copy is not to be had
//   Needs    slots, a ring of 4 or more
#include <cstring>

#include "algorithms/algorithms.h"
#include "algorithms/chunks.h"
#include "algorithms/fold.h"

namespace sumac::reduce {
namespace {

void copy_in(const ShmGroup& group, const ReduceArguments& args, std::uint64_t position,
             Part chunk) {
  const Part own = part_of(chunk.bytes, group.size(), group.rank(), args.unit);
  std::byte* slot = group.payload(group.rank(), position);
  const std::byte* input = args.input + chunk.offset;
  const std::size_t after = own.offset + own.bytes;
  std::memcpy(slot, input, own.offset);
  std::memcpy(slot + after, input + after, chunk.bytes - after);
}

void fold_own_part(const ShmGroup& group, const ReduceArguments& args, std::uint64_t position,
                   Part chunk) {
  const Part own = part_of(chunk.bytes, group.size(), group.rank(), args.unit);
  if (own.bytes == 0) return;
  const std::byte* input = args.input + chunk.offset + own.offset;
  std::byte* result = group.rank() == args.root
                          ? args.output + chunk.offset + own.offset
                          : group.payload(group.rank(), position) + own.offset;
  fold(args, result, group.size(), own.bytes / args.element, [&](int r) -> const std::byte* {
    return r == group.rank() ? input : group.payload(r, position) + own.offset;
  });
}

void copy_out(const ShmGroup& group, const ReduceArguments& args, std::uint64_t position,
              Part chunk) {
  for (int r = 0; r < group.size(); ++r) {
    if (r == args.root) continue;
    const Part theirs = part_of(chunk.bytes, group.size(), r, args.unit);
    std::memcpy(args.output + chunk.offset + theirs.offset,
                group.payload(r, position) + theirs.offset, theirs.bytes);
  }
}

}  // namespace

Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes(), group.slot_bytes(), args.unit);
  const std::size_t count = chunks.count();
  const bool root = group.rank() == args.root;
  const std::uint64_t first = group.take(count);
  // The root copies one step later, while the others fold the next chunk.
  for (std::size_t step = 0; step < count + (root ? 2 : 1); ++step) {
    if (step < count) {
      co_await strand.until(group.slot_free(first + step));
      copy_in(group, args, first + step, chunks[step]);
      group.publish_in(first + step);
    }
    if (step >= 1 && step - 1 < count) {
      co_await strand.until(group.others_in(first + step - 1));
      fold_own_part(group, args, first + step - 1, chunks[step - 1]);
      group.publish_out(first + step - 1);
      if (!root) group.finish(first + step - 1);
    }
    if (root && step >= 2) {
      co_await strand.until(group.others_out(first + step - 2));
      copy_out(group, args, first + step - 2, chunks[step - 2]);
      group.finish(first + step - 2);
    }
  }
}

Traffic split_slots_cost(const GroupCall& call) {
  // The root is the busiest.
  return traffic_in_memory(chunks_in_slots(call) + 1, call.bytes + 2 * others_parts(call));
}

}  // namespace sumac::reduce

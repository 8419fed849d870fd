// SPDX-License-Identifier: BSD-3-Clause
// All-reduce over slots, the work split. Each chunk is divided into one part a rank: a rank copies
// the others' parts into its slot, folds its own part of all ranks' slots, leaves the result in its
// slot, and copies the other parts' results out. The three stages of consecutive chunks overlap.
//   Steps    2 a chunk (inputs in, results out), pipelined
//   Bytes    a rank copies 2n(p-1)/p and folds n in all: p times less arithmetic than flat
//   Wins     medium and large messages where single copy is not to be had
//   Needs    slots, a ring of 4 or more. Every element is reduced once, by one rank: same bits
#include <cstring>

#include "algorithms/algorithms.h"
#include "algorithms/chunks.h"
#include "algorithms/fold.h"

namespace sumac::allreduce {
namespace {

// The parts of one chunk as one rank sees them.
class Chunk {
 public:
  Chunk(ShmGroup& group, const ReduceArguments& args, std::uint64_t position, Part chunk)
      : group_(group), args_(args), position_(position), chunk_(chunk) {}

  void copy_in() const {
    const Part own = part(group_.rank());
    std::byte* slot = group_.payload(group_.rank(), position_);
    const std::byte* input = args_.input + chunk_.offset;
    std::memcpy(slot, input, own.offset);
    const std::size_t after = own.offset + own.bytes;
    std::memcpy(slot + after, input + after, chunk_.bytes - after);
  }

  void fold_own_part() const {
    const Part own = part(group_.rank());
    if (own.bytes == 0) return;
    std::byte* result = group_.payload(group_.rank(), position_) + own.offset;
    fold(args_, result, group_.size(), own.bytes / args_.element, [&](int r) -> const std::byte* {
      if (r == group_.rank()) return args_.input + chunk_.offset + own.offset;
      return group_.payload(r, position_) + own.offset;
    });
    std::memcpy(args_.output + chunk_.offset + own.offset, result, own.bytes);
  }

  void copy_out() const {
    for (int r = 0; r < group_.size(); ++r) {
      if (r == group_.rank()) continue;
      const Part theirs = part(r);
      std::memcpy(args_.output + chunk_.offset + theirs.offset,
                  group_.payload(r, position_) + theirs.offset, theirs.bytes);
    }
  }

 private:
  Part part(int rank) const { return part_of(chunk_.bytes, group_.size(), rank, args_.unit); }

  ShmGroup& group_;
  const ReduceArguments& args_;
  std::uint64_t position_;
  Part chunk_;
};

}  // namespace

Task split_slots(Strand& strand, ShmGroup& group, const ReduceArguments& args) {
  const Chunks chunks = slot_chunks(args.bytes(), group.slot_bytes(), args.unit);
  const std::size_t count = chunks.count();
  const std::uint64_t first = group.take(count);
  for (std::size_t step = 0; step < count + 2; ++step) {
    if (step < count) {
      co_await strand.until(group.slot_free(first + step));
      Chunk(group, args, first + step, chunks[step]).copy_in();
      group.publish_in(first + step);
    }
    if (step >= 1 && step - 1 < count) {
      const std::size_t c = step - 1;
      co_await strand.until(group.others_in(first + c));
      Chunk(group, args, first + c, chunks[c]).fold_own_part();
      group.publish_out(first + c);
    }
    if (step >= 2) {
      const std::size_t c = step - 2;
      co_await strand.until(group.others_out(first + c));
      Chunk(group, args, first + c, chunks[c]).copy_out();
      group.finish(first + c);
      // A result is published one stage before the chunk ahead of it is copied out.
      if (c > 0) group.note_finished_before(first + c - 1);
    }
  }
}

Traffic split_slots_cost(const GroupCall& call) {
  return traffic_in_memory(chunks_in_slots(call) + 1, call.bytes + 2 * others_parts(call));
}

}  // namespace sumac::allreduce

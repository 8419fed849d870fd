// SPDX-License-Identifier: BSD-3-Clause
// Direct algorithms let the ranks of a node read and write each other's buffers in place. Every
// rank may have put the whole pages of its buffers where the others can map them, at some time
// before (promotion/promotion.h). The ranks find that out in the call, by the flags that carry the
// buffers' addresses, and take another algorithm if one of them has not.
//   Idea     as XPMEM's users do it (Hashmi et al., "Designing efficient shared address space
//            reduction collectives for multi-/many-cores", IPDPS 2018), without a kernel module
//   Steps    one more than the algorithm that follows has: addresses out
//   Needs    slots with room for the edges: the bytes at both ends of a vector that are not in
//            whole pages of all ranks' buffers go through the slots
#pragma once

#include "algorithms/single_copy.h"

namespace sumac {

// Carries out a call by attempt.algorithm if all ranks of the group can, which all of them find
// out, and else by attempt.otherwise. `attempt.went` says which.
Task try_direct(Strand& strand, ShmGroup& group, Collective collective, const CallArguments& args,
                const SingleCopy& peers, DirectTry& attempt);

// The others reach into this memory of the rank, its input and output, if such a call goes direct.
// An address is null if there is no such buffer, or if the data have gaps.
struct ReachedMemory {
  struct Buffer {
    const void* address = nullptr;
    std::size_t bytes = 0;
  };
  Buffer input, output;
};
ReachedMemory reached_memory(int rank, Collective collective, const CallArguments& args);

// shown() returns what a rank shows of its memory. add_views() adds where this process sees the
// vectors of `bytes` bytes that another rank has shown, if they lie in memory that the MPI has
// shared.
Buffers shown(const ReachedMemory& own, bool mapped);
void add_views(SharedViews& views, int rank, const Buffers& buffers, std::size_t bytes);

// These are the whole pages that several buffers have in common, as offsets in the buffers. The
// buffers begin at different places in their pages.
class WholePages {
 public:
  WholePages(std::size_t bytes, std::size_t page) : bytes_(bytes), end_(bytes), page_(page) {}
  // Leaves those pages that the buffer at `address` has, too.
  void narrow(std::uintptr_t address) {
    begin_ = std::max(begin_, round_up(address, page_) - address);
    const std::uintptr_t end = (address + bytes_) / page_ * page_;
    end_ = std::min(end_, end > address ? end - address : 0);
  }
  // Returns what is left, in whole cache lines of the vector and so of elements.
  Part inside() const {
    const std::size_t begin = round_up(begin_, kCacheLine), end = end_ / kCacheLine * kCacheLine;
    return begin < end ? Part{begin, end - begin} : Part{0, 0};
  }

 private:
  std::size_t bytes_, begin_ = 0, end_, page_;
};

// Returns the range that both have, if any.
inline Part common(Part a, Part b) {
  const std::size_t from = std::max(a.offset, b.offset);
  const std::size_t to = std::min(a.offset + a.bytes, b.offset + b.bytes);
  return {from, to > from ? to - from : 0};
}

// Returns the whole pages of one buffer.
inline Part inside_of(std::uintptr_t address, std::size_t bytes, std::size_t page) {
  WholePages pages(bytes, page);
  pages.narrow(address);
  return pages.inside();
}

// These bytes of a vector lie outside of `inside` and go through slots: first those before it, and
// then those behind it.
class Edges {
 public:
  Edges(std::size_t bytes, Part inside)
      : head_{0, inside.bytes == 0 ? bytes : inside.offset},
        tail_{inside.offset + inside.bytes, 0} {
    tail_.bytes = inside.bytes == 0 ? 0 : bytes - tail_.offset;
  }
  std::size_t bytes() const { return head_.bytes + tail_.bytes; }

  // Shows the edges of this rank's vector to the others, behind the flag out(), if there are any.
  void show(ShmGroup& group, std::uint64_t position, const ConstBytes& vector) const {
    if (bytes() == 0) return;
    std::byte* const slot = group.payload(group.rank(), position);
    (vector + head_.offset).copy_to(slot, head_.bytes);
    (vector + tail_.offset).copy_to(slot + head_.bytes, tail_.bytes);
    group.publish_out(position);
  }
  // Copies the edges of a peer's vector, as far as they lie in the range `part`, to `output`, which
  // begins where the range does.
  void take(const ShmGroup& group, std::uint64_t position, int peer, Part part,
            const Bytes& output) const {
    take(group.payload(peer, position), part, output);
  }
  // Does the same with edges that are at `edges`, as in a slot.
  void take(const std::byte* edges, Part part, const Bytes& output) const {
    take_one(edges, part, output, head_);
    take_one(edges + head_.bytes, part, output, tail_);
  }
  // Folds the edges of all ranks' vectors, as far as they lie in the range `part`, into `output`,
  // which begins where the range does.
  void fold_into(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                 Part part, std::byte* output) const {
    fold_into([&](int r) { return group.payload(r, position); }, group.fold_order(), args, part,
              output);
  }
  // Does the same with edges that are at edges_of(rank).
  template <class EdgesOf>
  void fold_into(EdgesOf edges_of, FoldOrder order, const ReduceArguments& args, Part part,
                 std::byte* output) const {
    fold_one(edges_of, order, args, part, output, head_, 0);
    fold_one(edges_of, order, args, part, output, tail_, head_.bytes);
  }

 private:
  template <class EdgesOf>
  static void fold_one(EdgesOf edges_of, FoldOrder order, const ReduceArguments& args, Part part,
                       std::byte* output, Part edge, std::size_t in_slot) {
    const Part both = common(part, edge);
    if (both.bytes == 0) return;
    fold(args, output + (both.offset - part.offset), order, both.bytes / args.element,
         [&](int r) -> const std::byte* {
           return edges_of(r) + in_slot + (both.offset - edge.offset);
         });
  }
  static void take_one(const std::byte* in_slot, Part part, const Bytes& output, Part edge) {
    const Part both = common(part, edge);
    if (both.bytes == 0) return;
    (output + (both.offset - part.offset))
        .copy_from(in_slot + (both.offset - edge.offset), both.bytes);
  }

  Part head_, tail_;
};

// Ends an operation in which each rank fetches what it needs from the others' inputs, after this
// rank's part of it: waits until nobody reads its input any more, and does what was refused.
Task end_fetching(Strand& strand, ShmGroup& group, std::uint64_t position, const SingleCopy& peers);

// Does an all-reduce or a reduce: whichever rank has time folds shares of the inside in place, and
// every rank that has an output folds the edges. `formed` and `store` are as in SharedFold.
template <class Formed, class Store>
Task fold_in_place(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                   const SingleCopy& peers, const Direct& direct, std::byte* output, Formed formed,
                   Store store) {
  const std::uint64_t position = direct.position;
  const Edges edges(args.bytes(), direct.inside);
  edges.show(group, position, args.input);
  const SharedFold inside(group, args, peers, position, {direct.inside.bytes, group.size()},
                          direct.inside.offset, formed, store);
  inside.do_own_share();
  if (edges.bytes() > 0 && output) {
    co_await strand.until(group.others_out(position));
    edges.fold_into(group, position, args, {0, args.bytes()}, output);
  }
  co_await complete(strand, group, position, peers, inside);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Direct algorithms: the ranks of a node read and write each other's buffers in place. Every rank
// has put the whole pages of its buffers where the others can map them, at some time before
// (promotion/promotion.h), or has not; the ranks find out in the call, by the flags that carry the
// buffers' addresses, and take another algorithm where one of them has not.
//   Idea     as XPMEM's users do it (Hashmi et al., "Designing efficient shared address space
//            reduction collectives for multi-/many-cores", IPDPS 2018), without a kernel module
//   Steps    one more than the algorithm that follows has: addresses out
//   Needs    slots with room for the edges: the bytes at both ends of a vector that are not in
//            whole pages of all ranks' buffers go through the slots
#pragma once

#include "algorithms/single_copy.h"

namespace sumac {

// Carries out a call by attempt.algorithm if all ranks of the group can, which all of them find
// out, else by attempt.otherwise; `attempt.went` says which.
Task try_direct(Strand& strand, ShmGroup& group, Collective collective, const CallArguments& args,
                const SingleCopy& peers, DirectTry& attempt);

// The memory of this rank that the others reach into when such a call goes direct: input and
// output. An address is null where there is none, or where the data have gaps.
struct ReachedMemory {
  struct Buffer {
    const void* address = nullptr;
    std::size_t bytes = 0;
  };
  Buffer input, output;
};
ReachedMemory reached_memory(int rank, Collective collective, const CallArguments& args);

// What a rank shows of them; and where this process sees what another rank has shown, of vectors of
// `bytes` bytes, if they lie in memory that the MPI has shared.
Buffers shown(const ReachedMemory& own, bool mapped);
void add_views(SharedViews& views, int rank, const Buffers& buffers, std::size_t bytes);

// Whole pages of buffers at different places in their pages, as offsets in the buffers.
class WholePages {
 public:
  WholePages(std::size_t bytes, std::size_t page) : bytes_(bytes), end_(bytes), page_(page) {}
  // Leaves those that also the buffer at `address` has.
  void narrow(std::uintptr_t address) {
    begin_ = std::max(begin_, round_up(address, page_) - address);
    const std::uintptr_t end = (address + bytes_) / page_ * page_;
    end_ = std::min(end_, end > address ? end - address : 0);
  }
  // What is left, in whole cache lines of the vector and so of elements.
  Part inside() const {
    const std::size_t begin = round_up(begin_, kCacheLine), end = end_ / kCacheLine * kCacheLine;
    return begin < end ? Part{begin, end - begin} : Part{0, 0};
  }

 private:
  std::size_t bytes_, begin_ = 0, end_, page_;
};

// Of one buffer.
inline Part inside_of(std::uintptr_t address, std::size_t bytes, std::size_t page) {
  WholePages pages(bytes, page);
  pages.narrow(address);
  return pages.inside();
}

// The bytes of a vector outside of `inside`, which go through slots: those before it, and then
// those behind it.
class Edges {
 public:
  Edges(std::size_t bytes, Part inside)
      : head_{0, inside.bytes == 0 ? bytes : inside.offset},
        tail_{inside.offset + inside.bytes, 0} {
    tail_.bytes = inside.bytes == 0 ? 0 : bytes - tail_.offset;
  }
  std::size_t bytes() const { return head_.bytes + tail_.bytes; }

  // Shows those of this rank's vector to the others, behind the flag out(), if there are any.
  void show(ShmGroup& group, std::uint64_t position, const ConstBytes& vector) const {
    if (bytes() == 0) return;
    std::byte* const slot = group.payload(group.rank(), position);
    (vector + head_.offset).copy_to(slot, head_.bytes);
    (vector + tail_.offset).copy_to(slot + head_.bytes, tail_.bytes);
    group.publish_out(position);
  }
  // Copies the edges of a peer's vector to the same places of `vector`.
  void take(const ShmGroup& group, std::uint64_t position, int peer, const Bytes& vector) const {
    const std::byte* const slot = group.payload(peer, position);
    (vector + head_.offset).copy_from(slot, head_.bytes);
    (vector + tail_.offset).copy_from(slot + head_.bytes, tail_.bytes);
  }
  // Folds what the edges of all ranks' vectors have in the range `part` of them into `output`,
  // which begins where the range does.
  void fold_into(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                 Part part, std::byte* output) const {
    fold_one(group, position, args, part, output, head_, 0);
    fold_one(group, position, args, part, output, tail_, head_.bytes);
  }

 private:
  void fold_one(const ShmGroup& group, std::uint64_t position, const ReduceArguments& args,
                Part part, std::byte* output, Part edge, std::size_t in_slot) const {
    const std::size_t from = std::max(part.offset, edge.offset);
    const std::size_t to = std::min(part.offset + part.bytes, edge.offset + edge.bytes);
    if (from >= to) return;
    fold(args, output + (from - part.offset), group.size(), (to - from) / args.element,
         [&](int r) -> const std::byte* {
           return group.payload(r, position) + in_slot + (from - edge.offset);
         });
  }

  Part head_, tail_;
};

// The all-reduce and the reduce: shares of what is inside are folded in place by whichever rank has
// time, and the edges by every rank that has an output. `formed` and `store` as in SharedFold.
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

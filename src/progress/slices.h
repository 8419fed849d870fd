// SPDX-License-Identifier: BSD-3-Clause
// A large call can be carried out as several of the same kind, one behind the other, each on a
// slice of the vectors. A rank whose data are in a GPU's memory then copies the next slice in and
// the last one out while this one is under way.
//
// Idea   All ranks do it, or none: whether a call is cut, and where, follows from what all of them
//        know. Which of them copy anything does not matter to the others
// Bits   In one group, an element is folded in the same order wherever it lies. Over levels some
//        algorithms fold it as where it lies tells them to, with slices like with other sizes, and
//        the algorithms of SUMAC_REPRODUCIBLE do not
// Needs  That no other operation of these ranks begins before the call has ended: their slots and
//        messages are taken slice by slice. So nonblocking calls are never cut
#pragma once

#include "levels/levels_operation.h"
#include "transport/peer_memory.h"

namespace sumac {

// A rank copies its data by this while the call goes on.
class SliceCopies {
 public:
  // The input of the slice must be there on return. `next` is the slice after it; no bytes: there
  // is none.
  virtual void before(Part slice, Part next) = 0;
  // The result of the slice is there.
  virtual void after(Part slice) = 0;

 protected:
  ~SliceCopies() = default;
};

// Returns how many bytes of such a vector are worth a slice: 0 if it is not to be cut.
std::size_t slice_bytes(Collective collective, std::size_t bytes);

// Goes through the slices of a call, which has `slice` set and outlives this.
class Slices {
 public:
  explicit Slices(const ChosenCall& call);
  // Goes on to the next slice, after the one before it has been carried out. Returns false if that
  // was the last one.
  bool advance();
  // Returns the call on the slice.
  const ChosenCall& part() const { return part_; }

 private:
  const ChosenCall& call_;
  const Chunks all_;
  std::size_t next_ = 0;
  ChosenCall part_;
};

// Carries out such a call in one group.
Task run_slices(Strand& strand, ShmGroup& group, const ChosenCall& call, const SingleCopy& peers);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This is one collective over a hierarchy, as one rank carries it out: its stages, and the strands
// that run them. Several may be under way at the same time on the same levels. On a lane (one
// direction of a level, and one strand where messages go) they take turns in the order in which
// they began, the same on all ranks; so a later operation is reduced on one level while an earlier
// one is exchanged on the next.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "levels/call_plan.h"

namespace sumac {

// Messages are reduced in this memory. It grows and never shrinks.
class Scratch {
 public:
  // Returns at least `bytes` bytes, aligned to cache lines. Aborts the process if there is no
  // memory, since peers wait for it.
  std::byte* reserve(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

// On a lane, messages of one tag, and operations, follow one another.
struct Lane {
  Stream stream;
  Counter ended{0};         // operations that have left it
  std::uint64_t begun = 0;  // operations that have been given a turn
};

// The operations of one hierarchy share this.
struct Levels : AgreedLevels {
  std::shared_ptr<Messages> messages;  // null if all levels share memory
  int first_tag = 0;                   // first of its messages' tags; other hierarchies have others
  std::shared_ptr<PeerMemory> lowest;  // reaches this rank's group on the lowest level, or null
  std::deque<Lane> lanes;              // indexed by tag
  // Tests: strands stop at every condition, whether met or not.
  bool stops_at_every_wait = false;
  bool marks_calls = true;  // flags carry marks of `calls` (SUMAC_CHECK=calls)
  CallHash calls;           // hash of the operations begun

  Lane& lane(std::size_t tag);
};

// The messages of one hierarchy use at most this many tags.
inline constexpr int kMostTags = 64;

class SliceCopies;

// A call of one rank, as it is to be carried out. It does not change from then on: the Work
// (progress/work.h) keeps what is found out while it is carried out.
struct ChosenCall : CallArguments {
  Collective collective = Collective::allreduce;
  Choice choice;
  // This must be equal on all ranks, too: the operation of a reduction and the class of its
  // elements.
  std::uint32_t reduces = 0;
  // The call is carried out in slices of at most so many bytes; 0: as a whole. Equal
  // on all ranks, but only some copy meanwhile (progress/slices.h).
  std::size_t slice = 0;
  SliceCopies* copies = nullptr;

  std::size_t bytes() const { return CallArguments::bytes(collective); }
  // Over levels a barrier is the all-reduce of a word.
  CallShape shape() const {
    switch (info_of(collective).arguments) {
      case ArgumentKind::bcast:
        return {collective, bcast.bytes, 1, bcast.root};
      case ArgumentKind::allgather:
        return {collective, allgather.parts.bytes, 1, 0, allgather.parts.listed};
      case ArgumentKind::reduce_scatter:
        return {collective, reduce_scatter.bytes(), reduce_scatter.element, 0,
                reduce_scatter.parts.listed};
      case ArgumentKind::reduction:
      case ArgumentKind::alltoall:  // not over levels
        break;
    }
    if (!info_of(collective).has_data) return {collective, kBarrierWord, kBarrierWord, 0};
    return {collective, reduction.bytes(), reduction.element, reduction.root};
  }
};

class LevelsOperation {
 public:
  explicit LevelsOperation(Levels& levels);
  LevelsOperation(const LevelsOperation&) = delete;
  LevelsOperation& operator=(const LevelsOperation&) = delete;

  // Takes the operation's turns, and runs as far as conditions allow. The last operation must have
  // ended. `direct` says what is tried first in the group of the lowest level.
  void begin(const ChosenCall& call, const DirectTry& direct);
  // Does the same by a plan of the caller's, which must live until the operation has ended.
  void begin(const CallPlan& plan, const ChosenCall& call, const DirectTry& direct);
  bool ended() const;
  // Returns true if the operation, which has ended, went direct on the lowest level, in this rank's
  // group.
  bool went_direct() const { return operation_.direct.went; }
  const Strands& strands() const { return strands_; }

 private:
  void make_plan(const ChosenCall& call);
  ReduceArguments word_of_barrier();
  void take_arguments(const ChosenCall& call);
  void take_stages();
  // Returns the tag of the lane on which a strand of the stage takes its turn.
  std::size_t tag_of(const StagePlan& stage, std::size_t strand) const;
  std::size_t width_of(const StagePlan& stage) const;
  // Gives each strand of a stage that sends messages its group, and all of them, and the kept
  // chunks, their parts of the scratch memory.
  void prepare_workers();
  void begin_stages();
  // Begins the strands that take chunks through all stages.
  void begin_chunks();
  // Returns the group of one strand, for messages of at most `largest` bytes.
  MessageGroup messages_of(const LevelGroup& group, std::size_t tag, std::size_t largest);
  Strand& strand(std::size_t number);
  template <class Start>
  void run_in_turn(std::size_t strand, std::size_t tag, ShmGroup* group, Start start);

  Levels& levels_;
  // These are the choice, shape and plan of the last call: calls of one shape often follow one
  // another.
  Choice choice_;
  CallShape shape_;
  CallPlan plan_;
  Operation operation_;
  std::int32_t barrier_in_ = 0, barrier_out_ = 0;
  Strands strands_;  // made when first needed
  Scratch scratch_;
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// A relay copies between ranks that may not reach each other's memory. The rank to which the memory
// belongs copies: a process can always touch its own, if need be by its own handler of faults.
//   Idea     One rank after another asks. It writes its request into its slot, for one other rank.
//            That rank copies the data from its memory to its slot's room, or from the asking
//            rank's room to its memory, as much as there is room at a time. Every rank notes that
//            it has seen the request, and only then comes the next one
//   Needs    a position at which the ranks have slots, whose payload is of no use any more; ranks
//            that wait for nothing else
#pragma once

#include "algorithms/refusals.h"
#include "strands/task.h"
#include "transport/shm/group.h"

namespace sumac {

// Returns what an operation takes with a position at which it may have to relay.
inline Use relay_use(const ShmGroup& group) {
  if (group.slot_bytes() > 0) return {.room = group.slot_bytes(), .results = true};
  return {.lines = kLines, .results = true};
}

class Relay {
 public:
  // Relays among all ranks of the group.
  Relay(ShmGroup& group, std::uint64_t position) : Relay(group, position, kAll, kAll) {}
  // Relays between this rank and `other`, in the slot of the one of them whose share of the work it
  // is.
  Relay(ShmGroup& group, std::uint64_t position, int other, int share)
      : group_(group), position_(position), other_(other), share_(share) {}

  int rank() const { return group_.rank(); }
  // Return whether a rank takes part, and the end of the numbers of ranks that may.
  bool has(int rank) const { return other_ == kAll || rank == other_ || rank == group_.rank(); }
  int end() const { return group_.size(); }

  // room() returns how much one request can carry; put() and take() copy to and from the place for
  // it in a rank's slot.
  std::size_t room() const;
  void put(const ConstBytes& from, std::size_t bytes) const;
  void take(int rank, const Bytes& to, std::size_t bytes) const;

  enum class Kind : std::uint8_t { give, take, end };
  struct Request {
    Kind kind = Kind::end;
    int peer = 0;
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
  };
  void ask(const Request& request);
  Request request_of(int rank) const;
  // Does what another rank asks of this one, and notes that it has seen the request.
  void follow(int asking, const Request& request);
  void note_seen() { publish(place(rank()).round, number(++round_)); }

  // Waits until the others have seen all requests so far, or until a rank has made the next one.
  Wait all_seen() const;
  Wait asked_by(int rank) const { return wait_for(rank, round_ + 1); }

 private:
  static constexpr int kAll = -1;
  // Between two ranks all data go through the room of the one whose share it is, because the other
  // one's may have data for other ranks.
  int room_of(int rank) const { return other_ == kAll ? rank : share_; }
  // Rounds of one position have numbers beyond those of every earlier position in the slot.
  static constexpr int kRoundBits = 24;
  static constexpr std::uint64_t kBeyond = (std::uint64_t{1} << kRoundBits) - 1;
  std::uint64_t number(std::uint64_t round) const {
    return ((position_ + 1) << kRoundBits) + round;
  }
  Relayed& place(int rank) const {
    if (other_ == kAll) return group_.relayed(rank, position_, 0);
    return group_.relayed(share_, position_, rank == share_ ? 0 : 1);
  }
  Wait wait_for(int rank, std::uint64_t round) const {
    return {place(rank).round, 0, 1, 0, 1, number(round), kBeyond};
  }

  ShmGroup& group_;
  std::uint64_t position_, round_ = 0;
  int other_, share_;
};

// Brings the data of one transfer, for which this rank asks.
Task relay_read(Strand& strand, Relay& relay, int peer, std::uintptr_t address, Bytes to,
                std::size_t bytes);
Task relay_write(Strand& strand, Relay& relay, int peer, std::uintptr_t address, ConstBytes from,
                 std::size_t bytes);
// Does what `asking` asks for, until it has no more to ask.
Task follow(Strand& strand, Relay& relay, int asking);

// Every rank takes its turn: before its own it follows the ranks before it, and after it the
// others.
Task relay_turn(Strand& strand, Relay& relay);
Task end_turn(Strand& strand, Relay& relay);

// Does, in this rank's turn, all reads and writes that were refused: those with `peer` or, if that
// is negative, with all.
Task relay_copies(Strand& strand, Relay& relay, Refusals& refusals, int peer);

// Does a whole relay, if only copies were refused: among all ranks, or between two.
Task relay_all(Strand& strand, ShmGroup& group, std::uint64_t position, Refusals& refusals);
Task relay_between(Strand& strand, ShmGroup& group, std::uint64_t position, Refusals& refusals,
                   int other, int share);

}  // namespace sumac

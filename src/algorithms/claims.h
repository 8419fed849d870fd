// SPDX-License-Identifier: BSD-3-Clause
// Any rank of a group may do this work. Each rank has a share of an operation, cut into pieces. A
// rank takes pieces of its own share first and, once it would only wait, pieces that others have
// left. So a rank that is busy elsewhere holds nobody up: a rank that waits for it does its share.
// A rank that only looks in between its own work does no more than its share.
//
// Two counters in the slot of the share's owner, which several ranks write, hold the number of
// pieces taken and of pieces done. They start at base(position), beyond all values of their earlier
// uses.
#pragma once

#include <climits>

#include "algorithms/chunks.h"
#include "algorithms/in_pieces.h"
#include "transport/shm/group.h"

namespace sumac {

class Claims {
 public:
  static constexpr int kPositionShift = 16;
  static constexpr std::size_t kMostPieces = (std::size_t{1} << kPositionShift) - 1;

  Claims(const ShmGroup& group, std::uint64_t position, std::size_t pieces)
      : group_(group),
        position_(position),
        base_((position + 1) << kPositionShift),
        pieces_(pieces) {}

  // Takes a piece of the share of `owner`. Returns false if none is left.
  bool take(int owner, std::size_t& piece) const {
    Counter& taken = group_.taken(owner, position_);
    std::uint64_t seen = taken.load(std::memory_order_relaxed);
    do {
      piece = begun(seen) ? static_cast<std::size_t>(seen - base_) : 0;
      if (piece >= pieces_) return false;
    } while (!taken.compare_exchange_weak(seen, base_ + piece + 1, std::memory_order_relaxed));
    return true;
  }

  // Notes that a piece taken is done and its results are where they belong.
  void note_done(int owner) const {
    Counter& done = group_.done(owner, position_);
    std::uint64_t seen = done.load(std::memory_order_relaxed);
    std::uint64_t next;
    do {
      next = begun(seen) ? seen + 1 : base_ + 1;
    } while (!done.compare_exchange_weak(seen, next, std::memory_order_acq_rel));
  }

  // These conditions are met when all pieces of one share, or of all shares, are done.
  Wait all_done(int owner) const { return {group_.done(owner, position_), base_ + pieces_}; }
  Wait all_done() const { return group_.all_done(position_, base_ + pieces_); }

 private:
  bool begun(std::uint64_t value) const { return static_cast<std::int64_t>(value - base_) > 0; }

  const ShmGroup& group_;
  std::uint64_t position_, base_;
  std::size_t pieces_;
};

// Cuts a share into pieces that are small enough for a second-level cache, and large enough that a
// system call (some 300 ns) does not matter.
inline Chunks pieces_of(std::size_t share, std::size_t most) {
  return {share, std::max({most, kCacheLine, round_up(share / Claims::kMostPieces, kCacheLine)}),
          kCacheLine};
}

// Calls work(piece) for pieces of the share of `owner`, at most `most` of them.
template <class DoPiece>
void do_share(const Claims& claims, int owner, std::size_t most, DoPiece work) {
  std::size_t piece;
  for (std::size_t i = 0; i < most && claims.take(owner, piece); ++i) {
    work(piece);
    claims.note_done(owner);
  }
}

// Does the same by as many threads as may help, if the share's `bytes` are worth it: the pieces are
// cells whose copies are tasks (Jain et al. on OpenMP tasks within MPI, IPDPS workshops 2018, doi
// 10.1109/IPDPSW.2018.00203).
template <class DoPiece>
void do_share_by_threads(const Claims& claims, int owner, std::size_t most, std::size_t bytes,
                         DoPiece work) {
  by_threads(bytes, static_cast<int>(std::min<std::size_t>(most, INT_MAX)),
             [&](int thread, int threads) {
               const Part own = part_of(most, threads, thread, 1);
               do_share(claims, owner, own.bytes, work);
             });
}

// Calls work(owner, piece) for every piece that the other ranks have left.
template <class DoPiece>
void do_what_is_left(const ShmGroup& group, const Claims& claims, DoPiece work) {
  for (int i = 1; i < group.size(); ++i) {
    const int owner = (group.rank() + i) % group.size();
    do_share(claims, owner, SIZE_MAX, [&](std::size_t piece) { work(owner, piece); });
  }
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The single-copy algorithms share these steps: addresses travel through the slots, data do not.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "algorithms/claims.h"
#include "algorithms/in_pieces.h"
#include "algorithms/relay.h"
#include "kernels/strided_copy.h"
#include "strands/task.h"
#include "transport/shared_mappings.h"
#include "transport/shm/group.h"

namespace sumac {

// These are the addresses of a rank's buffers, in its own address space.
struct Buffers {
  Buffers() = default;
  Buffers(const void* in, const void* out, bool are_mapped = false)
      : input(reinterpret_cast<std::uintptr_t>(in)),
        output(reinterpret_cast<std::uintptr_t>(out)),
        mapped(are_mapped) {}

  std::uintptr_t input = 0;
  std::uintptr_t output = 0;
  std::uint64_t mapped = false;  // their whole pages are mapped for the others: view() may see them
  SharedPlace input_place, output_place;  // the place of each in memory that the MPI has shared
};

inline void show_buffers(ShmGroup& group, std::uint64_t position, const Buffers& buffers) {
  static_assert(sizeof buffers <= kLineData);
  end_streaming();  // the program may have filled its buffers past the caches
  std::memcpy(group.small(group.rank(), position), &buffers, sizeof buffers);
  group.publish_in(position);
}

inline Buffers buffers_of(const ShmGroup& group, int rank, std::uint64_t position) {
  Buffers buffers;
  std::memcpy(&buffers, group.small(rank, position), sizeof buffers);
  return buffers;
}

// Copy by way of the kernel. They have moved the bytes if they return true. The kernel may have
// refused this rank's own memory, which these functions then reach as the program itself does.
bool read_from(const SingleCopy& peers, int peer, std::uintptr_t address, void* to,
               std::size_t bytes);
bool write_to(const SingleCopy& peers, int peer, std::uintptr_t address, const void* from,
              std::size_t bytes);

// Returns where this process sees the peer's bytes at `address`, or null.
inline std::byte* seen(const SingleCopy& peers, int peer, std::uintptr_t address,
                       std::size_t bytes) {
  return peers.mapped ? peers.memory->view(peer, address, bytes) : nullptr;
}

// Copy from or to a peer's memory. They return false if that is refused.
inline bool fetch(const SingleCopy& peers, int peer, std::uintptr_t address, std::byte* to,
                  std::size_t bytes) {
  if (const std::byte* place = seen(peers, peer, address, bytes)) {
    std::memcpy(to, place, bytes);
    return true;
  }
  return read_from(peers, peer, address, to, bytes);
}
inline bool store(const SingleCopy& peers, int peer, std::uintptr_t address, const std::byte* from,
                  std::size_t bytes) {
  std::byte* const place = seen(peers, peer, address, bytes);
  if (!place) return write_to(peers, peer, address, from, bytes);
  if (peers.streams) {
    stream_copy(place, from, bytes);
    end_streaming();
  } else {
    std::memcpy(place, from, bytes);
  }
  return true;
}

// Do the same, but note what is refused, to be done later.
inline void fetch_or_note(const SingleCopy& peers, int peer, std::uintptr_t address, std::byte* to,
                          std::size_t bytes) {
  if (!fetch(peers, peer, address, to, bytes)) [[unlikely]]
    peers.refusals->note(Refusals::Read{peer, address, to, bytes});
}
void store_or_note(const SingleCopy& peers, int peer, std::uintptr_t address, const std::byte* from,
                   std::size_t bytes);

// Returns the access of one thread, with its part of the scratch memory.
inline SingleCopy for_thread(const SingleCopy& peers, int thread, int threads) {
  SingleCopy own = peers;
  own.scratch_bytes = peers.scratch_bytes / static_cast<std::size_t>(threads) / kPage * kPage;
  own.scratch += static_cast<std::size_t>(thread) * own.scratch_bytes;
  return own;
}

// Returns how many threads may fetch: their parts of the scratch memory must hold as much from
// `sources` ranks at a time as is worth a system call.
inline int most_fetching_threads(const SingleCopy& peers, int sources) {
  constexpr std::size_t kLeastFetch = 32 << 10;
  return static_cast<int>(peers.scratch_bytes / kLeastFetch / static_cast<std::size_t>(sources));
}

// Fetches into data with gaps, which get pieces that are still in the cache.
inline void fetch_and_unpack(const SingleCopy& peers, int peer, std::uintptr_t address,
                             const Bytes& to, std::size_t bytes) {
  constexpr std::size_t kPiece = 32 << 10;
  const std::size_t most = std::min(kPiece, peers.scratch_bytes);
  for (std::size_t done = 0; done < bytes; done += most) {
    const std::size_t some = std::min(most, bytes - done);
    if (!fetch(peers, peer, address + done, peers.scratch, some)) [[unlikely]] {
      return peers.refusals->note(Refusals::Read{peer, address + done, to + done, bytes - done});
    }
    (to + done).copy_from(peers.scratch, some);
  }
}

// Fetches in the same way into data with or without gaps. As many threads as may help fetch large
// data. What is refused is noted.
inline void fetch_into(const SingleCopy& peers, int peer, std::uintptr_t address, const Bytes& to,
                       std::size_t bytes) {
  if (to.contiguous()) {
    constexpr std::size_t kByte = 1;
    return in_pieces(to.at(), bytes, kByte, [&](std::size_t first, std::size_t n) {
      fetch_or_note(peers, peer, address + first, to.at() + first, n);
    });
  }
  by_threads(bytes, most_fetching_threads(peers, 1), [&](int thread, int threads) {
    const Part some = part_of(bytes, threads, thread, kCacheLine);
    fetch_and_unpack(for_thread(peers, thread, threads), peer, address + some.offset,
                     to + some.offset, some.bytes);
  });
}

// Stores data that belong `offset` bytes into a rank's output.
inline void store_to_peer(const ShmGroup& group, const SingleCopy& peers, std::uint64_t position,
                          int peer, std::size_t offset, const std::byte* from, std::size_t bytes) {
  store_or_note(peers, peer, buffers_of(group, peer, position).output + offset, from, bytes);
}

// Begins with the next rank, as fold_from() does. If all ranks reached into the same one's memory
// at the same time, they would wait for one another in the kernel, which locks its page tables and
// counts the users of its pages. (Reduce-scatter of 1 MiB on 8 cores of a Sapphire Rapids is 1.8
// times as fast as in the same order everywhere.)
inline void store_to_peers(const ShmGroup& group, const SingleCopy& peers, std::uint64_t position,
                           std::size_t offset, const std::byte* from, std::size_t bytes) {
  for (int i = 1; i < group.size(); ++i) {
    const int r = (group.rank() + i) % group.size();
    store_to_peer(group, peers, position, r, offset, from, bytes);
  }
}

// Returns the bytes fetched from a peer at a time: few enough that they are folded while they are
// still in the second-level cache, and enough that a system call (some 300 ns) is seldom needed.
// From mapped memory, it is the bytes of the result that are stored while they are in the
// first-level cache.
inline std::size_t fetch_bytes(const SingleCopy& peers, int ranks) {
  const std::size_t most = peers.mapped ? 16 << 10 : 256 << 10;
  const std::size_t share = peers.scratch_bytes / static_cast<std::size_t>(ranks);
  return std::min(most, share / kCacheLine * kCacheLine);
}

// Returns the bytes that a rank takes of a share at a time.
inline std::size_t piece_bytes(const SingleCopy& peers, int ranks) {
  constexpr std::size_t kMostInPlace = 128 << 10;
  return peers.mapped ? kMostInPlace : fetch_bytes(peers, ranks);
}

// The parts of a vector are cut into pieces, the same number in each part (the last may be empty).
class Shares {
 public:
  Shares(const Parts& parts, const SingleCopy& peers)
      : parts_(parts), cut_(pieces_of(parts.largest(), piece_bytes(peers, parts.ranks))) {}
  std::size_t pieces() const { return cut_.count(); }
  std::size_t bytes(int owner) const { return parts_[owner].bytes; }
  Part part(int owner, std::size_t piece) const {
    const Part whole = parts_[owner];
    const Part within = cut_[piece];
    const std::size_t offset = std::min(whole.bytes, within.offset);
    return {whole.offset + offset, std::min(within.bytes, whole.bytes - offset)};
  }

 private:
  Parts parts_;
  Chunks cut_;
};

// Calls fold_piece(peers, piece) for the pieces of this rank's share, by as many threads as may
// help, as long as the bytes that each fetches at a time are worth a system call.
template <class FoldPiece>
void fold_own_share(const ShmGroup& group, const Claims& claims, const SingleCopy& peers,
                    std::size_t bytes, FoldPiece fold_piece) {
  const int most = most_fetching_threads(peers, group.size());
  by_threads(bytes, most, [&](int thread, int threads) {
    const SingleCopy own = for_thread(peers, thread, threads);
    do_share(claims, group.rank(), SIZE_MAX, [&](std::size_t piece) { fold_piece(own, piece); });
  });
}

// Folds the range `part` of all ranks' inputs, block by block, into `to`, or into the scratch
// memory if that is null. input(rank) returns where a rank's input is. Inputs are read in place if
// this process sees them; scratch memory has room for a block of the others'.
template <class InputOf>
class BlockFold {
 public:
  BlockFold(const ReduceArguments& args, const SingleCopy& peers, FoldOrder order, int own,
            Part part, InputOf input, std::byte* to)
      : args_(args),
        peers_(peers),
        order_(order),
        own_(own),
        part_(part),
        input_(input),
        to_(to),
        most_(fetch_bytes(peers, order.ranks)) {}

  bool ended() const { return done_ == part_.bytes; }
  Part rest() const { return {at(), part_.bytes - done_}; }
  // Return where in the vectors the block is, and its bytes.
  std::size_t at() const { return part_.offset + done_; }
  std::size_t bytes() const { return std::min(most_, part_.bytes - done_); }

  // Returns where this process sees a rank's block, or null.
  const std::byte* place(int r) const {
    return r == own_ ? args_.input + at() : seen(peers_, r, address(r), bytes());
  }
  std::uintptr_t address(int r) const { return input_(r) + at(); }
  std::byte* scratch(int r) const { return peers_.scratch + static_cast<std::size_t>(r) * most_; }
  bool read(int r) const { return read_from(peers_, r, address(r), scratch(r), bytes()); }

  // Folds a block that was seen or read of all ranks. Returns where the result is.
  const std::byte* fold() const {
    std::byte* const result = to_ ? to_ + done_ : scratch(own_);
    sumac::fold(args_.kernel, result, order_, bytes() / args_.element, args_.element,
                [this](int r) -> const std::byte* {
                  const std::byte* source = place(r);
                  return source ? source : scratch(r);
                });
    return result;
  }
  void go_on() { done_ += bytes(); }

 private:
  const ReduceArguments& args_;
  const SingleCopy& peers_;
  FoldOrder order_;
  int own_;
  Part part_;
  InputOf input_;
  std::byte* to_;
  std::size_t most_, done_ = 0;
};

// Calls store(offset, result, bytes) for each block that is folded. Returns the range that is not
// folded because a transfer was refused; nothing of it has been stored.
template <class InputOf, class Store>
Part fold_from(const ReduceArguments& args, const SingleCopy& peers, FoldOrder order, int own,
               Part part, InputOf input, std::byte* to, Store store) {
  BlockFold<InputOf> block(args, peers, order, own, part, input, to);
  for (; !block.ended(); block.go_on()) {
    for (int i = 0; i < order.ranks; ++i) {
      const int r = (own + i) % order.ranks;
      if (!block.place(r) && !block.read(r)) [[unlikely]]
        return block.rest();
    }
    const std::byte* const result = block.fold();
    store(block.at(), result, block.bytes());
  }
  return block.rest();
}

// Does the same in this rank's turn of a relay, which asks for refused inputs.
template <class InputOf, class Store>
Task fold_by_relay(Strand& strand, Relay& relay, const ReduceArguments& args,
                   const SingleCopy& peers, FoldOrder order, int own, Part part, InputOf input,
                   std::byte* to, Store store) {
  BlockFold<InputOf> block(args, peers, order, own, part, input, to);
  for (; !block.ended(); block.go_on()) {
    for (int r = 0; r < order.ranks; ++r) {
      if (block.place(r) || block.read(r)) continue;
      co_await relay_read(strand, relay, r, block.address(r), block.scratch(r), block.bytes());
    }
    const std::byte* const result = block.fold();
    store(block.at(), result, block.bytes());
  }
}

// Returns where a rank's input is, as shown at `position`.
struct ShownInput {
  const ShmGroup& group;
  std::uint64_t position;
  std::uintptr_t operator()(int rank) const { return buffers_of(group, rank, position).input; }
};

// Whichever rank has time does the shares of a reduction. formed(owner, part) returns where this
// rank forms a part of a share, or null; store(position, owner, offset, result, bytes) brings the
// result to the ranks that need it.
template <class Formed, class Store>
class SharedFold {
 public:
  // The shares are `parts` of the range of the vectors that begins at offset `first`.
  SharedFold(const ShmGroup& group, const ReduceArguments& args, const SingleCopy& peers,
             std::uint64_t position, const Parts& parts, std::size_t first, Formed formed,
             Store store)
      : group_(group),
        args_(args),
        peers_(peers),
        position_(position),
        first_(first),
        shares_(parts, peers),
        claims_(group, position, shares_.pieces()),
        formed_(formed),
        store_(store) {}

  void do_own_share() const {
    const int own = group_.rank();
    fold_own_share(
        group_, claims_, peers_, shares_.bytes(own),
        [&](const SingleCopy& access, std::size_t piece) { do_piece(access, own, piece); });
  }
  void do_what_is_left() const {
    sumac::do_what_is_left(group_, claims_,
                           [&](int owner, std::size_t piece) { do_piece(peers_, owner, piece); });
  }
  Wait all_done() const { return claims_.all_done(); }

  // Does what was refused. It is called when everything else is done, in this rank's turn.
  Task do_refused(Strand& strand, Relay& relay) const { return do_refused(strand, relay, *this); }

 private:
  struct StoreOf {
    const SharedFold& fold;
    int owner;
    void operator()(std::size_t at, const std::byte* result, std::size_t bytes) const {
      fold.store_(fold.position_, owner, at, result, bytes);
    }
  };
  void do_piece(const SingleCopy& access, int owner, std::size_t piece) const {
    Part part = shares_.part(owner, piece);
    part.offset += first_;
    const Part rest = fold_from(args_, access, group_.fold_order(), group_.rank(), part, input(),
                                formed_(owner, part), StoreOf{*this, owner});
    if (rest.bytes > 0) [[unlikely]]
      access.refusals->note(Refusals::Fold{owner, rest});
    if (access.refusals->any()) [[unlikely]]
      group_.mark_refused(owner, position_);
  }
  ShownInput input() const { return {group_, position_}; }
  static Task do_refused(Strand& strand, Relay& relay, const SharedFold& fold) {
    const ShmGroup& group = fold.group_;
    for (const auto [owner, part] : fold.peers_.refusals->folds()) {
      co_await fold_by_relay(strand, relay, fold.args_, fold.peers_, group.fold_order(),
                             group.rank(), part, fold.input(), fold.formed_(owner, part),
                             StoreOf{fold, owner});
    }
    co_await relay_copies(strand, relay, *fold.peers_.refusals, -1);
  }

  const ShmGroup& group_;
  const ReduceArguments& args_;
  const SingleCopy& peers_;
  std::uint64_t position_;
  std::size_t first_;
  Shares shares_;
  Claims claims_;
  Formed formed_;
  Store store_;
};

// Ends an operation after this rank's own share of `fold`: does what others have left, waits for
// all, and does what was refused.
template <class Fold>
Task complete(Strand& strand, ShmGroup& group, std::uint64_t position, const SingleCopy& peers,
              const Fold& fold) {
  co_await strand.until_idle(fold.all_done());
  fold.do_what_is_left();
  // Until then other ranks read the inputs and write the outputs.
  co_await strand.until(fold.all_done());
  if (group.any_refused(position)) [[unlikely]] {
    peers.refusals->note_agreed();
    Relay relay(group, position);
    co_await relay_turn(strand, relay);
    co_await fold.do_refused(strand, relay);
    co_await end_turn(strand, relay);
  }
  group.finish(position);
  group.note_finished_before(position);
}

// Does the reductions by single copy: addresses travel, all ranks' shares are done by whichever
// rank has time, and all wait for all.
template <class Formed, class Store>
Task reduce_shares(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                   const SingleCopy& peers, Parts parts, std::byte* shown, Formed formed,
                   Store store) {
  const std::uint64_t position = group.take(1, relay_use(group));
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, {args.input, shown});
  co_await strand.until(group.others_in(position));
  const SharedFold fold(group, args, peers, position, parts, 0, formed, store);
  fold.do_own_share();
  co_await complete(strand, group, position, peers, fold);
}

}  // namespace sumac

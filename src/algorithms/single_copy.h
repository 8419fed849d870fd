// SPDX-License-Identifier: BSD-3-Clause
// The steps that the single-copy algorithms share: addresses travel through the slots, data do not.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "algorithms/arguments.h"
#include "algorithms/chunks.h"
#include "algorithms/claims.h"
#include "algorithms/fold.h"
#include "algorithms/in_pieces.h"
#include "kernels/strided_copy.h"
#include "strands/task.h"
#include "transport/shared_mappings.h"
#include "transport/shm/group.h"

namespace sumac {

// Addresses of a rank's buffers, in its own address space.
struct Buffers {
  Buffers() = default;
  Buffers(const void* in, const void* out, bool are_mapped = false)
      : input(reinterpret_cast<std::uintptr_t>(in)),
        output(reinterpret_cast<std::uintptr_t>(out)),
        mapped(are_mapped) {}

  std::uintptr_t input = 0;
  std::uintptr_t output = 0;
  std::uint64_t mapped = false;  // their whole pages are, for the others: view() may see them
  SharedPlace input_place, output_place;  // where they lie in memory that the MPI has shared
};

inline void show_buffers(ShmGroup& group, std::uint64_t position, const Buffers& buffers) {
  static_assert(sizeof buffers <= kLineData);
  end_streaming();  // of the program, which may have filled its buffers past the caches
  std::memcpy(group.small(group.rank(), position), &buffers, sizeof buffers);
  group.publish_in(position);
}

inline Buffers buffers_of(const ShmGroup& group, int rank, std::uint64_t position) {
  Buffers buffers;
  std::memcpy(&buffers, group.small(rank, position), sizeof buffers);
  return buffers;
}

// Copies by way of the kernel. Both return only when the bytes have moved.
inline void read_from(const SingleCopy& peers, int peer, std::uintptr_t address, void* to,
                      std::size_t bytes) {
  if (!peers.memory->read(peer, address, to, bytes)) peers.on_refusal->refused();
}
inline void write_to(const SingleCopy& peers, int peer, std::uintptr_t address, const void* from,
                     std::size_t bytes) {
  if (!peers.memory->write(peer, address, from, bytes)) peers.on_refusal->refused();
}

// Where this process sees the peer's bytes at `address`, or null.
inline std::byte* seen(const SingleCopy& peers, int peer, std::uintptr_t address,
                       std::size_t bytes) {
  return peers.mapped ? peers.memory->view(peer, address, bytes) : nullptr;
}

// Copies from or to a peer's memory.
inline void fetch(const SingleCopy& peers, int peer, std::uintptr_t address, std::byte* to,
                  std::size_t bytes) {
  if (const std::byte* place = seen(peers, peer, address, bytes)) {
    std::memcpy(to, place, bytes);
  } else {
    read_from(peers, peer, address, to, bytes);
  }
}
inline void store(const SingleCopy& peers, int peer, std::uintptr_t address, const std::byte* from,
                  std::size_t bytes) {
  std::byte* const place = seen(peers, peer, address, bytes);
  if (place && peers.streams) {
    stream_copy(place, from, bytes);
    end_streaming();
  } else if (place) {
    std::memcpy(place, from, bytes);
  } else {
    write_to(peers, peer, address, from, bytes);
  }
}

// The access of one thread, with its part of the scratch memory.
inline SingleCopy for_thread(const SingleCopy& peers, int thread, int threads) {
  SingleCopy own = peers;
  own.scratch_bytes = peers.scratch_bytes / static_cast<std::size_t>(threads) / kPage * kPage;
  own.scratch += static_cast<std::size_t>(thread) * own.scratch_bytes;
  return own;
}

// Threads whose parts of the scratch memory hold as much from `sources` ranks at a time as is worth
// a system call.
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
    fetch(peers, peer, address + done, peers.scratch, some);
    (to + done).copy_from(peers.scratch, some);
  }
}

// The same into data that may have gaps or not; much by as many threads as may help.
inline void fetch_into(const SingleCopy& peers, int peer, std::uintptr_t address, const Bytes& to,
                       std::size_t bytes) {
  if (to.contiguous()) {
    constexpr std::size_t kByte = 1;
    return in_pieces(to.at(), bytes, kByte, [&](std::size_t first, std::size_t n) {
      fetch(peers, peer, address + first, to.at() + first, n);
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
  store(peers, peer, buffers_of(group, peer, position).output + offset, from, bytes);
}

inline void store_to_peers(const ShmGroup& group, const SingleCopy& peers, std::uint64_t position,
                           std::size_t offset, const std::byte* from, std::size_t bytes) {
  for (int r = 0; r < group.size(); ++r) {
    if (r != group.rank()) store_to_peer(group, peers, position, r, offset, from, bytes);
  }
}

// Bytes fetched from a peer at a time: few enough that they are folded while they are still in the
// second-level cache, and enough that a system call (some 300 ns) is seldom needed. Of mapped
// memory, bytes of the result that are stored while they are in the first-level cache.
inline std::size_t fetch_bytes(const SingleCopy& peers, int ranks) {
  const std::size_t most = peers.mapped ? 16 << 10 : 256 << 10;
  const std::size_t share = peers.scratch_bytes / static_cast<std::size_t>(ranks);
  return std::min(most, share / kCacheLine * kCacheLine);
}

// Bytes that a rank takes of a share at a time.
inline std::size_t piece_bytes(const SingleCopy& peers, int ranks) {
  constexpr std::size_t kMostInPlace = 128 << 10;
  return peers.mapped ? kMostInPlace : fetch_bytes(peers, ranks);
}

// The parts of a vector cut into pieces, the same number in each part (the last may be empty).
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

// Folds the range `part` of all ranks' inputs, `fetch_bytes` at a time, into `to`, or into the
// scratch memory where that is null. input(rank) is where a rank's is. Inputs are read in place
// where this process sees them; scratch memory has room for the others'.
// store(offset, result, bytes) is called for each piece.
template <class InputOf, class Store>
void fold_from(const ReduceArguments& args, const SingleCopy& peers, int ranks, int own, Part part,
               InputOf input, std::byte* to, Store store) {
  const std::size_t most = fetch_bytes(peers, ranks);
  const auto scratch = [&](int r) { return peers.scratch + static_cast<std::size_t>(r) * most; };
  for (std::size_t done = 0; done < part.bytes;) {
    const std::size_t bytes = std::min(most, part.bytes - done);
    const std::size_t at = part.offset + done;
    const auto place = [&](int r) -> const std::byte* {
      return r == own ? args.input + at : seen(peers, r, input(r) + at, bytes);
    };
    for (int r = 0; r < ranks; ++r) {
      if (!place(r)) read_from(peers, r, input(r) + at, scratch(r), bytes);
    }
    std::byte* result = to ? to + done : scratch(own);
    fold(args.kernel, result, ranks, bytes / args.element, args.element,
         [&](int r) -> const std::byte* {
           const std::byte* source = place(r);
           return source ? source : scratch(r);
         });
    store(at, result, bytes);
    done += bytes;
  }
}

// The same of the inputs that the ranks have shown at `position`.
template <class Store>
void fold_from_peers(const ShmGroup& group, const ReduceArguments& args, const SingleCopy& peers,
                     std::uint64_t position, Part part, std::byte* to, Store store) {
  fold_from(
      args, peers, group.size(), group.rank(), part,
      [&](int r) { return buffers_of(group, r, position).input; }, to, store);
}

// The shares of a reduction, done by whichever rank has time. formed(owner, part) is where this
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

 private:
  void do_piece(const SingleCopy& access, int owner, std::size_t piece) const {
    Part part = shares_.part(owner, piece);
    part.offset += first_;
    fold_from_peers(group_, args_, access, position_, part, formed_(owner, part),
                    [&](std::size_t at, const std::byte* result, std::size_t bytes) {
                      store_(position_, owner, at, result, bytes);
                    });
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

// Ends an operation after this rank's own share of `fold`: does what others have left, and waits
// for all.
template <class Fold>
Task complete(Strand& strand, ShmGroup& group, std::uint64_t position, const Fold& fold) {
  co_await strand.until_idle(fold.all_done());
  fold.do_what_is_left();
  // Until then other ranks read the inputs and write the outputs.
  co_await strand.until(fold.all_done());
  group.finish(position);
  group.note_finished_before(position);
}

// The reductions by single copy: addresses travel, all ranks' shares are done by whichever rank has
// time, and all wait for all.
template <class Formed, class Store>
Task reduce_shares(Strand& strand, ShmGroup& group, const ReduceArguments& args,
                   const SingleCopy& peers, Parts parts, std::byte* shown, Formed formed,
                   Store store) {
  const std::uint64_t position = group.take(1, {.results = true});
  co_await strand.until(group.slot_free(position));
  show_buffers(group, position, {args.input, shown});
  co_await strand.until(group.others_in(position));
  const SharedFold fold(group, args, peers, position, parts, 0, formed, store);
  fold.do_own_share();
  co_await complete(strand, group, position, fold);
}

}  // namespace sumac

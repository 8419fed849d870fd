// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/bcast/shares.h"

namespace sumac::bcast {
namespace {

// A rank copies one of these pieces at a time. A message has at least p of them, so that the root
// can have every p-th.
Chunks pieces(const ShmGroup& group, std::size_t bytes) {
  constexpr std::size_t kMost = 512 << 10;
  const std::size_t share = div_up(bytes, static_cast<std::size_t>(group.size()));
  return pieces_of(bytes, std::min(kMost, round_up(share, kCacheLine)));
}

// Notes that something of the share of `rank` is left to do, before it is counted as done.
void mark_if_refused(const ShmGroup& group, const SingleCopy& peers, std::uint64_t position,
                     int rank) {
  if (peers.refusals->any()) [[unlikely]]
    group.mark_refused(rank, position);
}

}  // namespace

Task copy_shares(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers, std::uint64_t position, Part part) {
  const int ranks = group.size(), own = group.rank();
  const Bytes buffer = args.buffer + part.offset;
  const Chunks parts = pieces(group, part.bytes);
  const Claims claims(group, position, parts.count());
  // The root stores this many of each rank's pieces.
  const std::size_t of_root = parts.count() / static_cast<std::size_t>(ranks);
  if (own == args.root) {
    const auto push = [&](int to, std::size_t most) {
      const std::uintptr_t output = buffers_of(group, to, position).output;
      if (output == 0) return;
      const std::uintptr_t place = output + part.offset;
      do_share_by_threads(claims, to, most, part.bytes, [&](std::size_t piece) {
        const Part some = parts[piece];
        store_or_note(peers, to, place + some.offset, buffer.at() + some.offset, some.bytes);
        mark_if_refused(group, peers, position, to);
      });
    };
    for (int i = 1; i < ranks; ++i) {
      const int to = (own + i) % ranks;
      co_await strand.until(group.in(to, position));
      push(to, of_root);
    }
    for (int i = 1; i < ranks; ++i) {
      const int to = (own + i) % ranks;
      co_await strand.until_idle(claims.all_done(to));
      push(to, parts.count());
      co_await strand.until(claims.all_done(to));
      if (group.is_refused(to, position)) [[unlikely]]
        co_await relay_between(strand, group, position, *peers.refusals, to, to);
    }
  } else {
    co_await strand.until(group.in(args.root, position));
    const std::uintptr_t from = buffers_of(group, args.root, position).input + part.offset;
    if (!buffer.contiguous()) {
      fetch_into(peers, args.root, from, buffer, part.bytes);
      mark_if_refused(group, peers, position, own);
      do_share(claims, own, SIZE_MAX, [](std::size_t) {});
    } else {
      const auto take = [&](std::size_t piece) {
        const Part some = parts[piece];
        fetch_or_note(peers, args.root, from + some.offset, buffer.at() + some.offset, some.bytes);
        mark_if_refused(group, peers, position, own);
      };
      do_share_by_threads(claims, own, parts.count() - of_root, part.bytes, take);
      co_await strand.until_idle(claims.all_done(own));
      do_share(claims, own, SIZE_MAX, take);
      co_await strand.until(claims.all_done(own));
    }
    if (group.is_refused(own, position)) [[unlikely]]
      co_await relay_between(strand, group, position, *peers.refusals, args.root, own);
  }
}

}  // namespace sumac::bcast

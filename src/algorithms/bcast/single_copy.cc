// SPDX-License-Identifier: BSD-3-Clause
// Broadcast by single copy. Every other rank fetches the message from the root's buffer; the root
// stores some of it into theirs, so that it does its share, and any rank what one that is busy
// elsewhere leaves.
//   Steps    2: addresses out, copies done
//   Bytes    every rank moves n(p-1)/p: between two ranks both move half
//   Wins     large messages
//   Needs    access to peers' memory
#include "algorithms/single_copy.h"
#include "algorithms/functions.h"

namespace sumac::bcast {
namespace {

// What a rank copies at a time: at least p pieces of a message, so that the root can have every
// p-th.
Chunks pieces(const ShmGroup& group, std::size_t bytes) {
  constexpr std::size_t kMost = 512 << 10;
  const std::size_t share = div_up(bytes, static_cast<std::size_t>(group.size()));
  return pieces_of(bytes, std::min(kMost, round_up(share, kCacheLine)));
}

}  // namespace

Task single_copy(Strand& strand, ShmGroup& group, const BcastArguments& args,
                 const SingleCopy& peers) {
  const int ranks = group.size(), own = group.rank();
  const std::uint64_t position = group.take(1);
  co_await strand.until(group.slot_free(position));
  std::byte* const buffer = args.buffer.at();
  show_buffers(group, position, buffer, buffer);

  const Chunks parts = pieces(group, args.bytes);
  const Claims claims(group, position, parts.count());
  // Of each rank's pieces, the root stores this many.
  const std::size_t of_root = parts.count() / static_cast<std::size_t>(ranks);
  if (own == args.root) {
    const auto push = [&](int to, std::size_t most) {
      const std::uintptr_t place = buffers_of(group, to, position).output;
      do_share(claims, to, most, [&](std::size_t piece) {
        const Part part = parts[piece];
        if (!peers.memory->write(to, place + part.offset, buffer + part.offset, part.bytes)) {
          *peers.failed = true;
        }
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
      push(to, SIZE_MAX);
      co_await strand.until(claims.all_done(to));
    }
  } else {
    co_await strand.until(group.in(args.root, position));
    const std::uintptr_t from = buffers_of(group, args.root, position).input;
    const auto fetch = [&](std::size_t piece) {
      const Part part = parts[piece];
      if (!peers.memory->read(args.root, from + part.offset, buffer + part.offset, part.bytes)) {
        *peers.failed = true;
      }
    };
    do_share(claims, own, parts.count() - of_root, fetch);
    co_await strand.until_idle(claims.all_done(own));
    do_share(claims, own, SIZE_MAX, fetch);
    co_await strand.until(claims.all_done(own));
  }
  group.finish(position);
}

Traffic single_copy_cost(const GroupCall& call) { return traffic_in_memory(2, others_parts(call)); }

}  // namespace sumac::bcast

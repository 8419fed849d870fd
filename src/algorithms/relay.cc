// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/relay.h"

#include <algorithm>

namespace sumac {
namespace {

// Groups without payload have lines, the first of which has the buffers' addresses.
constexpr std::size_t kRoomInLines = kLinesData - kLineData;

// Calls copy(place, offset, bytes) for the runs of `bytes` bytes of the lines behind the first.
template <class Copy>
void over_lines(const ShmGroup& group, int rank, std::uint64_t position, std::size_t bytes,
                Copy copy) {
  if (!group.has_lines()) return copy(group.small(rank, position) + kLineData, 0, bytes);
  int index = 1;
  for (std::size_t done = 0; done < bytes; done += kLineData, ++index) {
    copy(group.line(rank, position, index).data, done, std::min(kLineData, bytes - done));
  }
}

}  // namespace

std::size_t Relay::room() const {
  return group_.slot_bytes() > 0 ? group_.slot_bytes() : kRoomInLines;
}

void Relay::put(const ConstBytes& from, std::size_t bytes) const {
  if (group_.slot_bytes() > 0) {
    return from.copy_to(group_.payload(room_of(rank()), position_), bytes);
  }
  over_lines(group_, room_of(rank()), position_, bytes,
             [&](std::byte* place, std::size_t done, std::size_t some) {
               (from + done).copy_to(place, some);
             });
}

void Relay::take(int rank, const Bytes& to, std::size_t bytes) const {
  if (group_.slot_bytes() > 0) {
    return to.copy_from(group_.payload(room_of(rank), position_), bytes);
  }
  over_lines(group_, room_of(rank), position_, bytes,
             [&](const std::byte* place, std::size_t done, std::size_t some) {
               (to + done).copy_from(place, some);
             });
}

void Relay::ask(const Request& request) {
  Relayed& own = place(rank());
  own.what =
      static_cast<std::uint64_t>(request.peer) << 8 | static_cast<std::uint8_t>(request.kind);
  own.address = request.address;
  own.bytes = request.bytes;
  note_seen();
}

Relay::Request Relay::request_of(int rank) const {
  const Relayed& asked = place(rank);
  return {static_cast<Kind>(asked.what & 0xff), static_cast<int>(asked.what >> 8), asked.address,
          asked.bytes};
}

void Relay::follow(int asking, const Request& request) {
  if (request.peer == rank() && request.kind != Kind::end) {
    auto* const memory = reinterpret_cast<std::byte*>(request.address);
    const bool gives = request.kind == Kind::give;
    gives ? put(memory, request.bytes) : take(asking, memory, request.bytes);
  }
  note_seen();
}

Wait Relay::all_seen() const {
  if (other_ != kAll) return wait_for(other_, round_);
  return group_.others_relayed(position_, number(round_), kBeyond);
}

Task relay_read(Strand& strand, Relay& relay, int peer, std::uintptr_t address, Bytes to,
                std::size_t bytes) {
  const std::size_t most = relay.room();
  for (std::size_t done = 0; done < bytes; done += most) {
    const std::size_t some = std::min(most, bytes - done);
    relay.ask({Relay::Kind::give, peer, address + done, some});
    co_await strand.until(relay.all_seen());
    relay.take(peer, to + done, some);
  }
}

Task relay_write(Strand& strand, Relay& relay, int peer, std::uintptr_t address, ConstBytes from,
                 std::size_t bytes) {
  const std::size_t most = relay.room();
  for (std::size_t done = 0; done < bytes; done += most) {
    const std::size_t some = std::min(most, bytes - done);
    relay.put(from + done, some);
    relay.ask({Relay::Kind::take, peer, address + done, some});
    co_await strand.until(relay.all_seen());
  }
}

Task follow(Strand& strand, Relay& relay, int asking) {
  Relay::Request request;
  do {
    co_await strand.until(relay.asked_by(asking));
    request = relay.request_of(asking);
    relay.follow(asking, request);
  } while (request.kind != Relay::Kind::end);
}

Task relay_turn(Strand& strand, Relay& relay) {
  relay.note_seen();
  for (int r = 0; r < relay.rank(); ++r) {
    if (relay.has(r)) co_await follow(strand, relay, r);
  }
  // A rank that has come this far uses the slots for nothing else.
  co_await strand.until(relay.all_seen());
}

Task end_turn(Strand& strand, Relay& relay) {
  relay.ask({});
  for (int r = relay.rank() + 1; r < relay.end(); ++r) {
    if (relay.has(r)) co_await follow(strand, relay, r);
  }
}

Task relay_copies(Strand& strand, Relay& relay, Refusals& refusals, int peer) {
  for (const Refusals::Read& read : refusals.reads()) {
    if (peer >= 0 && read.peer != peer) continue;
    co_await relay_read(strand, relay, read.peer, read.address, read.to, read.bytes);
  }
  for (const Refusals::Write& write : refusals.writes()) {
    if (peer >= 0 && write.peer != peer) continue;
    const std::byte* const from = write.from ? write.from : write.kept.data();
    co_await relay_write(strand, relay, write.peer, write.address, from, write.bytes);
  }
}

Task relay_all(Strand& strand, ShmGroup& group, std::uint64_t position, Refusals& refusals) {
  refusals.note_agreed();
  Relay relay(group, position);
  co_await relay_turn(strand, relay);
  co_await relay_copies(strand, relay, refusals, -1);
  co_await end_turn(strand, relay);
}

Task relay_between(Strand& strand, ShmGroup& group, std::uint64_t position, Refusals& refusals,
                   int other, int share) {
  refusals.note_met();
  Relay relay(group, position, other, share);
  co_await relay_turn(strand, relay);
  co_await relay_copies(strand, relay, refusals, other);
  co_await end_turn(strand, relay);
}

}  // namespace sumac

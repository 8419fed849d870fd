// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point messages, as algorithms see them: the MPI's own below, a mailbox in tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/align.h"
#include "strands/counter.h"
#include "strands/together.h"

namespace sumac {

// The order of one strand's messages: messages received from a peer arrive in the order in which
// the peer's strand of the same tag sent them.
struct Stream {
  int tag = 0;
  Counter sent{0}, received{0};           // completed; written by Messages alone
  std::uint64_t sends = 0, receives = 0;  // begun

  // Met when all messages begun so far are complete.
  Wait all_sent() const { return {sent, sends}; }
  Wait all_received() const { return {received, receives}; }
};

// Sends and receives that complete only within poll(). Buffers belong to Messages until their
// completion. A transfer that fails ends the job, since peers depend on it. A message is shorter
// than 2 GiB.
class Messages : public Pollable {
 public:
  virtual void send(Stream& stream, int peer, const std::byte* from, std::size_t bytes) = 0;
  virtual void receive(Stream& stream, int peer, std::byte* to, std::size_t bytes) = 0;
  // The ranks to or from which messages are under way, some perhaps more than once.
  virtual void add_peers(std::vector<int>&) const {}
};

// A group of ranks that reach each other by messages, as one strand of one of its ranks uses it.
struct MessageGroup {
  Messages* messages = nullptr;
  Stream* stream = nullptr;
  const int* members = nullptr;  // [size] peers for Messages
  int rank = 0, size = 1;        // of the group
  std::byte* scratch = nullptr;  // of message_scratch() bytes
  std::size_t scratch_bytes = 0;

  // Sends to and receives from ranks of the group. Zero bytes send no message: both sides know.
  void send(int to, const std::byte* from, std::size_t bytes) const {
    if (bytes > 0) messages->send(*stream, members[to], from, bytes);
  }
  void receive(int from, std::byte* to, std::size_t bytes) const {
    if (bytes > 0) messages->receive(*stream, members[from], to, bytes);
  }
};

// Scratch memory of a group for messages of at most `largest` bytes: some of these, and a piece of
// every rank's, which a small message is the whole of. The same on all ranks.
inline std::size_t message_scratch(int ranks, std::size_t largest) {
  constexpr std::size_t kMessages = 3, kMostPiece = 2048;
  const std::size_t piece = round_up(std::min(largest, kMostPiece), kCacheLine);
  return std::max(kMessages * round_up(largest, kCacheLine),
                  static_cast<std::size_t>(ranks) * piece);
}

}  // namespace sumac

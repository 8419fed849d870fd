// SPDX-License-Identifier: BSD-3-Clause
// What algorithms cost, counted and not measured, as `sumac plan` shows it. Beside every algorithm
// stands a function that counts its cost by the same arithmetic. No call of the program uses these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/chunks.h"
#include "transport/shm/layout.h"

namespace sumac {

// One call in one group, as far as its cost depends on it.
struct GroupCall {
  int ranks = 2, root = 0;  // at least two ranks; all-reduces and barriers have no root
  std::uint64_t bytes = 0;
  std::size_t chunk = 0;    // of the levels, for what is itself cut into pieces
  int radix = 2;            // of a k-nomial tree
  std::size_t element = 1;  // vectors are cut between elements of so many bytes
  // [ranks] parts of `bytes`, where a reduce-scatter or an all-gather has parts of different sizes.
  const Part* listed = nullptr;

  Parts parts() const { return {bytes, ranks, element, 0, listed}; }
};

struct Cost {
  bool known = false;  // what the MPI does, and what needs a hierarchy, is not
  // Waits for another rank that follow one another: each for a message, or for a flag in shared
  // memory. Chunks overlap, so one more chunk is one more step. The children of a node of a tree
  // count as one step.
  std::uint64_t steps = 0;
  // Bytes of the busiest rank: sent, or, in shared memory, written for others and read from them.
  std::uint64_t bytes = 0;
};

// Bytes that one rank sends another, by index in the group: one message or several.
struct Message {
  int from = 0, to = 0;
  std::uint64_t bytes = 0;
};

struct Traffic {
  Cost cost;
  std::vector<Message> messages;  // all of them; none within shared memory
};

inline Traffic traffic_in_memory(std::uint64_t steps, std::uint64_t bytes) {
  return {{true, steps, bytes}, {}};
}

// Counts messages: each(rank, send) calls send(from, to, bytes) for every message of the rank, in
// their order.
template <class Each>
Traffic traffic_of(const GroupCall& call, std::uint64_t steps, Each each) {
  Traffic traffic{{true, steps, 0}, {}};
  std::vector<std::uint64_t> sent(static_cast<std::size_t>(call.ranks));
  for (int rank = 0; rank < call.ranks; ++rank) {
    each(rank, [&](int from, int to, std::uint64_t bytes) {
      traffic.messages.push_back({from, to, bytes});
      sent[static_cast<std::size_t>(from)] += bytes;
    });
  }
  traffic.cost.bytes = *std::max_element(sent.begin(), sent.end());
  return traffic;
}

// The number of chunks in slots of the usual size.
inline std::uint64_t chunks_in_slots(const GroupCall& call) {
  return slot_chunks(call.bytes, Layout{}.slot_bytes).count();
}

// Bytes of all ranks' vectors, and of all parts of one vector, without the rank's own.
inline std::uint64_t others_vectors(const GroupCall& call) {
  return call.bytes * static_cast<std::uint64_t>(call.ranks - 1);
}
inline std::uint64_t others_parts(const GroupCall& call) {
  return call.bytes - call.bytes / static_cast<std::uint64_t>(call.ranks);
}

}  // namespace sumac

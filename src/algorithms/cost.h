// SPDX-License-Identifier: BSD-3-Clause
// The costs of algorithms are counted and not measured; `sumac plan` shows them. Beside every
// algorithm stands a function that counts its cost by the same arithmetic. No call of the program
// uses these functions.
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
  std::size_t chunk = 0;    // chunk of the levels, for groups that get a call in pieces
  int radix = 2;            // radix of a k-nomial tree
  std::size_t element = 1;  // vectors are cut between elements of this many bytes
  // [ranks] parts of `bytes`, if a reduce-scatter or an all-gather has parts of different sizes.
  const Part* listed = nullptr;

  Parts parts() const { return {bytes, ranks, element, 0, listed}; }
};

// Counts the work of a rank that shares memory with the others of its group, in the units of
// shared_work.def. Where ranks have different amounts of it, the rank that is longest in the call
// counts, or all of them in the mean.
struct SharedWork {
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) std::uint64_t name = 0;
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK

  // Adds so many times as much of each kind.
  void add(const SharedWork& more, std::uint64_t times = 1) {
#define SUMAC_SHARED_WORK(name, nanoseconds, unit, what) name += times * more.name;
#include "algorithms/shared_work.def"
#undef SUMAC_SHARED_WORK
  }
  bool operator==(const SharedWork&) const = default;
};

struct Cost {
  bool known = false;  // false if nobody has modelled it: the MPI's own, and algorithms over levels
  // Counts how often the rank waits for another one in sequence, for a message or for a flag in
  // shared memory. Chunks overlap, so one more chunk is one more step. The children of a node of a
  // tree count as one step.
  std::uint64_t steps = 0;
  // Counts the bytes of the busiest rank: those it sends or, in shared memory, writes for others
  // and reads from them.
  std::uint64_t bytes = 0;
  SharedWork work;  // nothing if ranks send messages, or if nobody has counted it
};

// One rank sends another these bytes, in one message or several. Ranks are indices in the group.
struct Message {
  int from = 0, to = 0;
  std::uint64_t bytes = 0;
};

struct Traffic {
  Cost cost;
  std::vector<Message> messages;  // all messages; none within shared memory
};

inline Traffic traffic_in_memory(std::uint64_t steps, std::uint64_t bytes,
                                 const SharedWork& work = {}) {
  return {{true, steps, bytes, work}, {}};
}

// These count the work of a group's ranks for each way that data go through shared memory. A rank
// waits for `awaited` others: in each step, or, through lines, in all steps together.
//
// Through lines the rank writes some, and reads some of others.
struct LinesMoved {
  int written = 0, read = 0;
};
Traffic through_lines(std::uint64_t steps, std::uint64_t bytes, int awaited,
                      const LinesMoved& lines);
Traffic through_slots(int ranks, std::uint64_t steps, std::uint64_t bytes, int awaited);
// In place the ranks reach one another's mapped buffers.
Traffic in_place(int ranks, std::uint64_t bytes, int awaited);
// By single copy the rank reaches the memory of other processes, and so many ranks reach into one
// of them at a time.
struct Reached {
  int processes = 0, readers = 1;
};
Traffic by_attach(int ranks, std::uint64_t bytes, int awaited, const Reached& reached);

// Counts messages: each(rank, send) calls send(from, to, bytes) for every message of the rank, in
// their order.
template <class Each>
Traffic traffic_of(const GroupCall& call, std::uint64_t steps, Each each) {
  Traffic traffic{{true, steps, 0, {}}, {}};
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

// Returns the number of chunks in slots of the usual size.
inline std::uint64_t chunks_in_slots(const GroupCall& call) {
  return slot_chunks(call.bytes, Layout{}.slot_bytes).count();
}
// Returns the bytes of a chunk that has a part for each rank, where there is room for it.
inline std::size_t divided_chunk(const GroupCall& call) {
  return Layout::wanted_width(call.ranks) * Layout{}.slot_bytes;
}
inline std::uint64_t divided_chunks(const GroupCall& call) {
  return slot_chunks(call.bytes, divided_chunk(call)).count();
}

// others_vectors() returns the bytes of all other ranks' vectors, others_parts() those of the other
// ranks' parts of one vector.
inline std::uint64_t others_vectors(const GroupCall& call) {
  return call.bytes * static_cast<std::uint64_t>(call.ranks - 1);
}
inline std::uint64_t others_parts(const GroupCall& call) {
  return call.bytes - call.bytes / static_cast<std::uint64_t>(call.ranks);
}

}  // namespace sumac

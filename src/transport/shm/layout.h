// SPDX-License-Identifier: BSD-3-Clause
// Where everything lies in the shared block of a group of ranks.
//
//   lane 0: header | control line of each rank | slot ring of rank 0 | slot ring of rank 1 | ...
//   lane 1: the same, if there is one
//
// Where a slot's flags and its small data lie is the lane's control layout, after Kandalla et al.
// ("Designing optimized MPI broadcast and allreduce for many integrated core (MIC) InfiniBand
// clusters", HOTI 2013). Layouts other than Control::slot have an area more, before the rings:
//
//   flags of all ranks for slot 0, slot 1, ... | small data of all ranks for slot 0, slot 1, ...
//
// A rank writes its own control line and its own slots, and reads those of the others. Operations
// on one lane follow one another; different lanes know nothing of each other, so two strands of a
// rank (a level that reduces and the same level broadcasting) each have a lane.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/align.h"
#include "strands/counter.h"

namespace sumac {

// Flag and data of a small message share a cache line: one transfer brings both.
struct Line {
  alignas(kCacheLine) Counter in;  // ShmGroup::flag_of() the position once the data are here
  std::byte data[kCacheLine - sizeof(Counter)];
};
inline constexpr std::size_t kLineData = sizeof(Line::data);
inline constexpr int kLines = 37;
inline constexpr std::size_t kLinesData = kLines * kLineData;  // a little over 2 KiB

// What a rank asks another one to copy for it, where the kernel does not (algorithms/relay.h).
struct Relayed {
  Counter round;  // published last: of what follows, or of what this rank has done for another
  std::uint64_t what = 0;
  std::uint64_t address = 0, bytes = 0;
};

// A slot: lines, then (behind the header) the payload of larger chunks. The payload has no flags of
// its own; the flag of the first line covers it, so that no data byte is ever read as a flag.
struct alignas(kFalseSharingRange) SlotHeader {
  Line lines[kLines];
  alignas(kCacheLine) Counter out;  // the same once the rank's result is in the payload
  // Counts the parts taken of this rank's share of common work (claims.h); any rank writes it.
  alignas(kCacheLine) Counter taken;
  Counter done;
  // ShmGroup::refused_at() the position where a transfer of this rank's share has been refused; set
  // by any rank, before that rank counts the part as done.
  Counter refused;
  Relayed relayed[2];
};

// Small data of one rank in one slot where they lie apart from the slot.
inline constexpr std::size_t kCellBytes = round_up(kLinesData, kFalseSharingRange);

// Two words that describe a call, equal on all ranks that make the same one.
struct Announcement {
  std::uint64_t what = 0, bytes = 0;
  bool operator==(const Announcement&) const = default;
};

// A rank's call as others read it. `number` counts the calls, from 1; 0 while the words change.
struct AnnouncedCall {
  Counter number, what, bytes;
};
inline constexpr std::size_t kMostSlots = 32;  // of a ring
// More calls than a rank can have begun since the oldest that is under way: each of those that have
// finished had a position in the ring, and a queue has some more under way.
inline constexpr std::size_t kAnnouncedCalls = 2 * kMostSlots;

// A hash of all calls that a rank has announced, equal on ranks that have announced the same.
class CallHash {
 public:
  void add(const Announcement& call) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ull;
    all_ = (all_ ^ (call.what + call.bytes * kOdd)) * kOdd;
  }
  static constexpr int kMarkBits = 16;
  // What flags carry of it.
  std::uint64_t mark() const { return all_ >> (64 - kMarkBits); }

 private:
  std::uint64_t all_ = 0;
};

struct alignas(kFalseSharingRange) RankControl {
  Counter done;  // this rank has finished every position before this one
  // The first position of the operation that this rank has begun last. This and `calls` are read
  // only by a rank that has waited suspiciously long.
  Counter begun;
  // What this rank's reads cost in the passes that are measured: a PassCost for each way of
  // storing.
  std::atomic<std::uint64_t> read_cost[2];
  AnnouncedCall calls[kAnnouncedCalls];  // the last ones
};

struct alignas(kFalseSharingRange) BlockHeader {
  std::atomic<std::uint32_t> detached;  // number of ranks that no longer use the block
  std::atomic<std::uint32_t> dropped;   // nonzero: its leader will not offer it again
  std::atomic<std::uint32_t> told;      // nonzero: a rank has said why the job ends
};

inline constexpr std::size_t kSmallSlot = 4 << 10;  // payload where /dev/shm is small

// Where the flags and the small data of slots lie.
enum class Control : std::uint8_t {
  slot,       // in the slot: a flag begins the line that carries the first data, or several do
  slab,       // the flags of all ranks side by side, eight to a line; data of all ranks contiguous
  staggered,  // the same, with each flag in a line of its own
};

// The parts of a slot that a lane has.
enum class Slots : std::uint8_t {
  full,        // lines and payload
  in_turn,     // and several payloads, where these are faster and there is room
  deep,        // as full, of a ring of kMostSlots, where there is room
  lines_only,  // only lines: for small messages, flags and addresses
};

// Where the flags of a lane are: the first one (from the lane's beginning), and the distances to
// that of the next rank, to those of the next slot, and from an input's to the result's.
struct FlagPlaces {
  std::size_t first = 0, by_rank = 0, by_slot = 0, to_result = 0;
};

struct Layout {
  int ranks = 0;
  int lanes = 1;
  std::size_t ring = 8;               // slots of a rank; a power of two, at most kMostSlots
  std::size_t slot_bytes = 32 << 10;  // payload of one slot; a multiple of kFalseSharingRange
  // Payloads of a slot, used in turn (a power of two): a line that another rank read lately is in
  // its cache, and dear to write again.
  std::size_t turns = 1;
  Control control = Control::slot;

  constexpr std::size_t slot_stride() const { return sizeof(SlotHeader) + turns * slot_bytes; }
  // Positions until all the memory of a ring has been written.
  constexpr std::uint64_t positions() const { return ring * turns; }
  // Where the payload of a position begins, from the first payload of its slot. Data of operations
  // that use no more than `most` bytes of a payload lie side by side in it, one pass after another,
  // so that these too go through all the memory.
  constexpr std::size_t payload_offset(std::uint64_t position, std::size_t most) const {
    const std::uint64_t round = position / ring;
    if (most > slot_bytes) {  // several payloads as one
      const std::size_t payloads = div_up(most, slot_bytes);
      return round % (turns / payloads) * payloads * slot_bytes;
    }
    const std::size_t size = round_up(std::max<std::size_t>(most, 1), kFalseSharingRange);
    const std::size_t beside = size < slot_bytes ? slot_bytes / size : 1;
    return round % turns * slot_bytes + round / turns % beside * size;
  }
  // The most that an operation may use of a slot at once. Two ranks that both copy and both read
  // have no use for short pieces, and a copy of 128 KiB is a sixth faster than four (Zen 5, far).
  constexpr std::size_t widest_payload() const {
    constexpr std::size_t kMost = 4;
    return (ranks == 2 ? std::min(turns, kMost) : 1) * slot_bytes;
  }
  constexpr std::size_t rank_stride() const { return round_up(ring * slot_stride(), kPage); }
  constexpr std::size_t control_offset() const { return sizeof(BlockHeader); }
  constexpr std::size_t flags_offset() const {
    return control_offset() + static_cast<std::size_t>(ranks) * sizeof(RankControl);
  }
  // Each slot of a rank has a flag for the input and one for the result.
  constexpr FlagPlaces flag_places() const {
    if (control == Control::slot) {
      return {rings_offset(), rank_stride(), slot_stride(), offsetof(SlotHeader, out)};
    }
    const std::size_t by_rank = control == Control::slab ? sizeof(Counter) : kFalseSharingRange;
    const std::size_t inputs =
        round_up(static_cast<std::size_t>(ranks) * by_rank, kFalseSharingRange);
    return {flags_offset(), by_rank, 2 * inputs, inputs};
  }
  constexpr std::size_t cells_offset() const {
    return flags_offset() + ring * flag_places().by_slot;
  }
  constexpr std::size_t rings_offset() const {
    const std::size_t cells = ring * static_cast<std::size_t>(ranks) * kCellBytes;
    return round_up(control == Control::slot ? flags_offset() : cells_offset() + cells, kPage);
  }
  constexpr std::size_t lane_bytes() const {
    return rings_offset() + static_cast<std::size_t>(ranks) * rank_stride();
  }
  constexpr std::size_t lane_offset(int lane) const {
    return static_cast<std::size_t>(lane) * lane_bytes();
  }
  constexpr std::size_t block_bytes() const { return lane_offset(lanes); }
};

// Sets the control lines and slot flags of a block to zero, as in a new block. The payload is left
// as it is.
void clear_block(std::byte* block, const Layout& layout);

}  // namespace sumac

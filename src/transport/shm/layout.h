// SPDX-License-Identifier: BSD-3-Clause
// The layout says where everything lies in the shared block of a group of ranks.
//
//   lane 0: header | control line of each rank | memory of rank 0 | memory of rank 1 | ...
//   lane 1: the same, if there is one
//
// The memory of a rank: first lines | results | further lines | payloads. A position has a first
// line and, in turn with fewer others, a place for its result's flags. Lines of messages that need
// several, and payloads, are taken from rings as they are needed (places.h), so that a rank may be
// many small operations ahead of the others with little memory.
//
// The lane's control layout says where the flags and the small data lie, after Kandalla et al.
// ("Designing optimized MPI broadcast and allreduce for many integrated core (MIC) InfiniBand
// clusters", HOTI 2013). In layouts other than Control::slot lines have no flags, so that small
// data are contiguous, and the flags of all ranks lie in an area before the memory of rank 0:
//
//   flags of all ranks for position 0, position 1, ...
//
// A rank writes its own control line and its own memory, and reads those of the others. Operations
// on one lane follow one another; different lanes know nothing of each other, so two strands of a
// rank (a level that reduces and the same level broadcasting) each have a lane.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/cpu.h"
#include "strands/counter.h"

namespace sumac {

// Flag and data of a small message share a cache line, so that one transfer brings both.
struct Line {
  alignas(kCacheLine) Counter in;  // ShmGroup::flag_of() the position once the data are here
  std::byte data[kCacheLine - sizeof(Counter)];
};
inline constexpr std::size_t kLineData = sizeof(Line::data);
inline constexpr int kLines = 37;
inline constexpr std::size_t kLinesData = kLines * kLineData;  // a little over 2 KiB

// A rank asks another one to copy this for it, because the kernel does not (algorithms/relay.h).
struct Relayed {
  // Published last: the number of the request, or of the work that this rank has done for another.
  Counter round;
  std::uint64_t what = 0;
  std::uint64_t address = 0, bytes = 0;
};

// These are the flags of the result of one rank and position.
struct alignas(kFalseSharingRange) ResultFlags {
  Counter out;  // ShmGroup::flag_of() the position once the rank's result is in the payload
  // Counts the parts taken of this rank's share of common work (claims.h); any rank writes it.
  alignas(kCacheLine) Counter taken;
  Counter done;
  // This is ShmGroup::refused_at() the position if a transfer of this rank's share has been
  // refused. Any rank sets it, before it counts the part as done.
  Counter refused;
  Relayed relayed[2];
};

// Positions in use at the same time: a rank may be so many small operations ahead of the slowest
// one. Fewer may use ResultFlags: in all of these operations ranks wait for one another.
// tests/memory_model simulates this code with few positions, so that they are soon used again.
#ifndef SUMAC_SIMULATED_POSITIONS
inline constexpr std::size_t kPositions = 256, kResultPlaces = 32;
#else
inline constexpr std::size_t kPositions = SUMAC_SIMULATED_POSITIONS, kResultPlaces = 2;
#endif
// A rank has this many further lines in a lane for messages of any size, and in one for small ones.
// The former are enough for 64 KiB of messages of any sizes that go by lines, or for 256 messages.
inline constexpr std::size_t kFurtherLines = 1344, kFewFurtherLines = 4 * kLines;
// Payloads of a rank take at least this many bytes, for 64 KiB of messages of any sizes: a payload
// takes a power of two of bytes.
inline constexpr std::size_t kLeastPayloads = 128 << 10;

// Two words describe a call. They are equal on all ranks that make the same call.
struct Announcement {
  std::uint64_t what = 0, bytes = 0;
  bool operator==(const Announcement&) const = default;
};

// Others read a rank's call here. `number` counts the calls, from 1; it is 0 while the words
// change.
struct AnnouncedCall {
  Counter number, what, bytes;
};
inline constexpr std::size_t kMostSlots = 32;  // the most slots of a ring
// This is more calls than a rank can have begun since the oldest that is under way: each of those
// that have finished had one of the positions, and a queue has some more under way.
inline constexpr std::size_t kAnnouncedCalls = 2 * kPositions;

struct alignas(kFalseSharingRange) RankControl {
  Counter done;  // this rank has finished every position before this one
  // The first position of the operation that this rank has begun last. This and `calls` are read
  // only by a rank that has waited suspiciously long.
  Counter begun;
  // The costs of this rank's reads in the passes that are measured, as a PassCost for each way of
  // storing.
  std::atomic<std::uint64_t> read_cost[2];
  AnnouncedCall calls[kAnnouncedCalls];  // the last calls
};

struct alignas(kFalseSharingRange) BlockHeader {
  std::atomic<std::uint32_t> detached;  // number of ranks that no longer use the block
  std::atomic<std::uint32_t> dropped;   // nonzero: its leader will not offer it again
  std::atomic<std::uint32_t> told;      // nonzero: a rank has said why the job ends
};

// The flags and the small data of slots lie in one of these ways.
enum class Control : std::uint8_t {
  slot,       // in the slot: a flag begins the line that carries the first data, or several do
  slab,       // the flags of all ranks side by side, eight to a line; data of all ranks contiguous
  staggered,  // as slab, with each flag in a line of its own
};

// A lane has these parts of a slot.
enum class Slots : std::uint8_t {
  full,        // lines and payload
  in_turn,     // lines and several payloads, if these are faster and the budget has room
  deep,        // as full, with a ring of kMostSlots, if the budget has room
  lines_only,  // only lines: for small messages, flags and addresses
};

// The flags of a lane begin at `first` (from the lane's beginning). The other fields are the
// distances to the flag of the next rank, to the flags of the next position, and from an input's
// flag to the result's. All are in bytes.
struct FlagPlaces {
  std::size_t first = 0, by_rank = 0, by_slot = 0, to_result = 0;
};

struct Layout {
  int ranks = 0;
  int lanes = 1;
  std::size_t ring = 8;               // payloads of a rank; a power of two, at most kMostSlots
  std::size_t slot_bytes = 32 << 10;  // bytes of a payload; a multiple of kFalseSharingRange
  // There are this many times the payloads (a power of two), for speed alone: a line that another
  // rank read lately is in its cache, and costs more to write again.
  std::size_t turns = 1;
  std::size_t further_lines = kFurtherLines;
  Control control = Control::slot;

  constexpr std::size_t payload_bytes() const {
    return slot_bytes == 0 ? 0 : ring * turns * std::bit_ceil(slot_bytes);
  }
  // Returns how many positions in a row need never wait for one another, whatever they use.
  constexpr std::size_t sure_positions() const {
    return std::min({ring, kResultPlaces, further_lines / kLines - 1});
  }
  // Returns how many payloads in turn a chunk takes that has a part for each of so many ranks: a
  // part of 4 KiB each, up to 32 ranks. (16 ranks, Sapphire Rapids: an all-reduce of 1 MiB in parts
  // of 2 KiB takes 1.8 times as long, and parts of more than 4 KiB gain nothing.)
  static constexpr std::size_t wanted_width(int ranks) {
    constexpr std::size_t kPart = 4 << 10, kUsual = 32 << 10, kMost = 4;
    return std::clamp(std::bit_ceil(static_cast<std::size_t>(ranks)) * kPart / kUsual,
                      std::size_t{1}, kMost);
  }
  // Returns the bytes of a chunk that is divided into one part for each rank.
  constexpr std::size_t divided_payload() const {
    return std::min(turns, wanted_width(ranks)) * slot_bytes;
  }
  // Returns the most bytes that an operation may use of a slot at once. Two ranks that both copy
  // and both read have no use for short pieces, and a copy of 128 KiB is a sixth faster than four
  // (Zen 5, far).
  constexpr std::size_t widest_payload() const {
    constexpr std::size_t kMost = 4;
    return ranks == 2 ? std::min(turns, kMost) * slot_bytes : divided_payload();
  }
  // These offsets are in the memory of a rank.
  static constexpr std::size_t results_offset() { return kPositions * sizeof(Line); }
  static constexpr std::size_t further_lines_offset() {
    return results_offset() + kResultPlaces * sizeof(ResultFlags);
  }
  constexpr std::size_t payloads_offset() const {
    return round_up(further_lines_offset() + further_lines * sizeof(Line), kPage);
  }
  constexpr std::size_t rank_stride() const {
    return payloads_offset() + round_up(payload_bytes(), kPage);
  }
  constexpr std::size_t control_offset() const { return sizeof(BlockHeader); }
  constexpr std::size_t flags_offset() const {
    return control_offset() + static_cast<std::size_t>(ranks) * sizeof(RankControl);
  }
  // Returns the places of the flags in layouts other than Control::slot. Each position of a rank
  // has a flag for the input and one for the result.
  constexpr FlagPlaces flag_places() const {
    const std::size_t by_rank = control == Control::slab ? sizeof(Counter) : kFalseSharingRange;
    const std::size_t inputs =
        round_up(static_cast<std::size_t>(ranks) * by_rank, kFalseSharingRange);
    return {flags_offset(), by_rank, 2 * inputs, inputs};
  }
  constexpr std::size_t rings_offset() const {
    const std::size_t flags = control == Control::slot ? 0 : kPositions * flag_places().by_slot;
    return round_up(flags_offset() + flags, kPage);
  }
  constexpr std::size_t lane_bytes() const {
    return rings_offset() + static_cast<std::size_t>(ranks) * rank_stride();
  }
  constexpr std::size_t lane_offset(int lane) const {
    return static_cast<std::size_t>(lane) * lane_bytes();
  }
  constexpr std::size_t block_bytes() const { return lane_offset(lanes); }
};

// Sets the control lines and flags of a block to zero, as in a new block. Payloads are left as they
// are.
void clear_block(std::byte* block, const Layout& layout);

}  // namespace sumac

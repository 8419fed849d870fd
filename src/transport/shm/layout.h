// SPDX-License-Identifier: BSD-3-Clause
// Where everything lies in the shared block of a group of ranks.
//
//   lane 0: header | control line of each rank | slot ring of rank 0 | slot ring of rank 1 | ...
//   lane 1: the same, if there is one
//
// A rank writes its own control line and its own slots, and reads those of the others. Operations
// on one lane follow one another; different lanes know nothing of each other, so two strands of a
// rank (a level that reduces and the same level broadcasting) each have a lane.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/align.h"
#include "engine/counter.h"

namespace sumac {

// Flag and data of a small message share a cache line: one transfer brings both.
struct Line {
  alignas(kCacheLine) Counter in;  // position + 1 once the data are here
  std::byte data[kCacheLine - sizeof(Counter)];
};
inline constexpr std::size_t kLineData = sizeof(Line::data);
inline constexpr int kLines = 37;
inline constexpr std::size_t kLinesData = kLines * kLineData;  // a little over 2 KiB

// A slot: lines, then (behind the header) the payload for larger chunks. The payload has no flags
// of its own, it is covered by that of the first line: bytes that were data are never taken for
// flags.
struct alignas(kFalseSharingRange) SlotHeader {
  Line lines[kLines];
  alignas(kCacheLine) Counter out;  // position + 1 once the rank's result is in the payload
  // Of the rank's share of work that anybody may do (claims.h); any rank writes them.
  alignas(kCacheLine) Counter taken;
  Counter done;
};

struct alignas(kFalseSharingRange) RankControl {
  Counter done;  // every position before this one is finished with, here and in others' slots
  // Of the operation that this rank has begun last: its first position, and a word that says what
  // it is. Nobody looks but a rank that waits suspiciously long.
  Counter begun, what;
};

struct alignas(kFalseSharingRange) BlockHeader {
  std::atomic<std::uint32_t> detached;  // ranks that no longer use the block
  std::atomic<std::uint32_t> dropped;   // its leader will not offer it again
};

inline constexpr std::size_t kSmallSlot = 4 << 10;  // payload where /dev/shm is small

// What the slots of a lane are for.
enum class Slots : std::uint8_t {
  full,        // lines and payload
  lines_only,  // small messages, flags and addresses
};

struct Layout {
  int ranks = 0;
  int lanes = 1;
  std::size_t ring = 8;               // slots of a rank; a power of two
  std::size_t slot_bytes = 32 << 10;  // payload of one slot; a multiple of kFalseSharingRange

  constexpr std::size_t slot_stride() const { return sizeof(SlotHeader) + slot_bytes; }
  constexpr std::size_t rank_stride() const { return round_up(ring * slot_stride(), kPage); }
  constexpr std::size_t control_offset() const { return sizeof(BlockHeader); }
  constexpr std::size_t rings_offset() const {
    return round_up(control_offset() + static_cast<std::size_t>(ranks) * sizeof(RankControl),
                    kPage);
  }
  constexpr std::size_t lane_bytes() const {
    return rings_offset() + static_cast<std::size_t>(ranks) * rank_stride();
  }
  constexpr std::size_t lane_offset(int lane) const {
    return static_cast<std::size_t>(lane) * lane_bytes();
  }
  constexpr std::size_t block_bytes() const { return lane_offset(lanes); }
};

// Makes the control lines and slot flags of a block as new: all zero. Payload stays as it is.
void clear_block(std::byte* block, const Layout& layout);

}  // namespace sumac

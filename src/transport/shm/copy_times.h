// SPDX-License-Identifier: BSD-3-Clause
// Times how 224 KiB that one process has just written reach another one: through slots in memory
// that both share, in pieces that one stores while the other reads; and, as much together, by
// single copy, half of it by either side out of the other's own memory at the same time. Which is
// faster depends on the kernel, on the instructions with which it copies, and on where the two run.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "machine/line.h"

namespace sumac {

// More than a first-level cache holds, as data for which the ways differ: what is left modified in
// one is dearer to read than what is in the second.
inline constexpr std::size_t kCopyPieces = 7, kCopyPiece = 32 << 10;
inline constexpr std::size_t kCopiedBytes = kCopyPieces * kCopyPiece;
// The least of these counts; the first one touches its memory for the first time.
inline constexpr int kCopyRounds = 3;
// How many numbers there are, from the first one on.
inline constexpr std::uint64_t kCopyNumbers = 2 + 3 * kCopyRounds;

// What a side writes, in memory that both share. The cells may hold anything but the numbers.
struct CopyCells {
  LineCell pieces[kCopyPieces];        // the writer: the number of what is there
  LineCell answer;                     // the reader: the number of what it has
  std::atomic<std::uint64_t> address;  // where its own data are
};
struct CopyPlaces {
  CopyCells *writer, *reader;
  std::array<std::byte*, kCopyPieces> slots;  // written by the writer
};

// A side's way to the other's memory: plain, for programs without the C++ run-time library. It may
// be asked for memory that the other has given back, having waited too long: what it reads then is
// not used.
struct OtherMemory {
  // Returns false when it is refused.
  bool (*read)(const void* context, std::uintptr_t address, void* to, std::size_t bytes);
  const void* context = nullptr;
};

// Nanoseconds; negative where the other side did not come by the deadline, or a copy was refused.
struct CopyTimes {
  double cached = -1, streamed = -1;  // through slots, by either way of stores (hand_over.h)
  double attached = -1;
  double slots() const { return std::min(cached, streamed); }
};

// Writes: the times from the moment at which the data are written to the reader's answer.
CopyTimes write_copies(const CopyPlaces& places, const OtherMemory& reader, std::uint64_t first,
                       const LineTiming& timing);

// Reads and answers. Returns false where the writer's times are negative, or may be.
bool read_copies(const CopyPlaces& places, const OtherMemory& writer, std::uint64_t first,
                 std::uint64_t deadline_ns);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// These functions time how 224 KiB that one process has just written reach another one. They go
// through slots in memory that both share, in pieces that one stores while the other reads. The
// same amount also goes by single copy: each side copies half of it out of the other's own memory,
// at the same time. Which is faster depends on the kernel, on the instructions with which it
// copies, and on where the two run.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "machine/line.h"

namespace sumac {

// The data are more than a first-level cache holds, as are data for which the ways differ: what is
// left modified in that cache takes longer to read than what is in the second-level cache.
inline constexpr std::size_t kCopyPieces = 7, kCopyPiece = 32 << 10;
inline constexpr std::size_t kCopiedBytes = kCopyPieces * kCopyPiece;
// The fastest of these rounds counts; the first one touches its memory for the first time.
inline constexpr int kCopyRounds = 3;
// The rounds use this many numbers, from the first one on.
inline constexpr std::uint64_t kCopyNumbers = 2 + 3 * kCopyRounds;

// A side writes this in memory that both share. The cells may hold anything but the numbers.
struct CopyCells {
  LineCell pieces[kCopyPieces];        // from the writer: the number of the data there
  LineCell answer;                     // from the reader: the number of the data it has
  std::atomic<std::uint64_t> address;  // address of this side's own data
};
struct CopyPlaces {
  CopyCells *writer, *reader;
  std::array<std::byte*, kCopyPieces> slots;  // the writer writes them
};

// A side reaches the other's memory by this function. The struct is plain, for programs without the
// C++ run-time library. A side that has waited too long may ask for memory that the other has given
// back; what it then reads is not used.
struct OtherMemory {
  // Returns false if the copy is refused.
  bool (*read)(const void* context, std::uintptr_t address, void* to, std::size_t bytes);
  const void* context = nullptr;
};

// Times are nanoseconds. They are negative if the other side did not come by the deadline, or a
// copy was refused.
struct CopyTimes {
  double cached = -1, streamed = -1;  // through slots, by each way of storing (hand_over.h)
  double attached = -1;
  double slots() const { return std::min(cached, streamed); }
};

// The writer calls it. The times run from the moment at which the data are written to the reader's
// answer.
CopyTimes write_copies(const CopyPlaces& places, const OtherMemory& reader, std::uint64_t first,
                       const LineTiming& timing);

// The reader calls it. It reads and answers. Returns false if the writer's times are negative, or
// may be.
bool read_copies(const CopyPlaces& places, const OtherMemory& writer, std::uint64_t first,
                 std::uint64_t deadline_ns);

}  // namespace sumac

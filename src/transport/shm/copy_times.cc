// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/copy_times.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>

#include "kernels/copy_from_peer.h"
#include "kernels/strided_copy.h"
#include "transport/shm/hand_over.h"

namespace sumac {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Data = std::unique_ptr<std::byte, Free>;
Data make_data() { return Data(static_cast<std::byte*>(std::malloc(kCopiedBytes))); }

enum class Copy : std::uint8_t { cached, streamed, attached };
inline constexpr Copy kCopies[] = {Copy::cached, Copy::streamed, Copy::attached};

void store(std::byte* to, const std::byte* from, Copy copy) {
  if (copy == Copy::streamed && kCanStream) {
    stream_copy(to, from, kCopyPiece);
    end_streaming();
  } else {
    std::memcpy(to, from, kCopyPiece);
  }
}

// Writes a line at a time, as programs do: memset may use stores that leave the caches.
void rewrite(std::byte* data, int value) {
  for (std::size_t i = 0; i < kCopiedBytes; i += kCacheLine) {
    std::memset(data + i, value, kCacheLine);
  }
}

// Does a single copy: the first half of the other's data goes into the second half of this side's.
bool exchange(const CopyCells& others, const OtherMemory& other, std::byte* data) {
  constexpr std::size_t kHalf = kCopiedBytes / 2;
  const std::uint64_t address = others.address.load(std::memory_order_relaxed);
  return other.read(other.context, address, data + kHalf, kHalf);
}

// Writes the data for the reader in the way of `copy`, and tells it this number.
void write(const CopyPlaces& places, const std::byte* data, Copy copy, std::uint64_t number) {
  for (std::size_t i = 0; i < kCopyPieces; ++i) {
    if (copy != Copy::attached) store(places.slots[i], data + i * kCopyPiece, copy);
    places.writer->pieces[i].value.store(number, std::memory_order_release);
  }
}

// Waits for the data and reads them. Returns false if they did not come by the deadline.
bool read(const CopyPlaces& places, std::byte* data, Copy copy, std::uint64_t number,
          std::uint64_t deadline_ns) {
  for (std::size_t i = 0; i < kCopyPieces; ++i) {
    if (!wait_for_line(places.writer->pieces[i], number, deadline_ns)) return false;
    if (copy == Copy::attached) continue;
    copy_from_peer(data + i * kCopyPiece, places.slots[i], kCopyPiece);
  }
  return true;
}

// Tells the other side where this side's data are, as soon as it has seen the next number.
void show(CopyCells& own, const std::byte* data) {
  own.address.store(reinterpret_cast<std::uintptr_t>(data), std::memory_order_relaxed);
}

}  // namespace

CopyTimes write_copies(const CopyPlaces& places, const OtherMemory& reader, std::uint64_t first,
                       const LineTiming& timing) {
  const Data data = make_data();
  if (!data) return {};
  show(*places.writer, data.get());
  if (!wait_for_line(places.reader->answer, first, timing.deadline_ns)) return {};
  std::array<std::uint64_t, std::size(kCopies)> least;
  least.fill(UINT64_MAX);
  for (int round = 0; round < kCopyRounds; ++round) {
    for (const Copy copy : kCopies) {
      rewrite(data.get(), round);
      const std::uint64_t begun = timing.now(), number = ++first;
      write(places, data.get(), copy, number);
      if (copy == Copy::attached && !exchange(*places.reader, reader, data.get())) return {};
      if (!wait_for_line(places.reader->answer, number, timing.deadline_ns)) return {};
      std::uint64_t& shortest = least[static_cast<std::size_t>(copy)];
      shortest = std::min(shortest, timing.now() - begun);
    }
  }
  places.writer->pieces[0].value.store(++first, std::memory_order_release);
  return {static_cast<double>(least[0]), static_cast<double>(least[1]),
          static_cast<double>(least[2])};
}

bool read_copies(const CopyPlaces& places, const OtherMemory& writer, std::uint64_t first,
                 std::uint64_t deadline_ns) {
  const Data data = make_data();
  if (!data) return false;
  show(*places.reader, data.get());
  places.reader->answer.value.store(first, std::memory_order_release);
  const std::uint64_t last = first + kCopyNumbers - 1;
  for (std::uint64_t number = first + 1; number != last; ++number) {
    const Copy copy = kCopies[(number - first - 1) % std::size(kCopies)];
    if (!read(places, data.get(), copy, number, deadline_ns)) return false;
    if (copy == Copy::attached && !exchange(*places.writer, writer, data.get())) return false;
    places.reader->answer.value.store(number, std::memory_order_release);
  }
  // The writer may still be reading this side's data.
  return wait_for_line(places.writer->pieces[0], last, deadline_ns);
}

}  // namespace sumac

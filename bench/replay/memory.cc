// SPDX-License-Identifier: BSD-3-Clause
#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "record.h"

namespace sumac::replay {
namespace {

constexpr std::int64_t kAlignment = std::int64_t{1} << 21;
constexpr std::int64_t kNear = std::int64_t{1} << 16;  // buffers as near as that are one piece

}  // namespace

void Unmap::operator()(std::byte* memory) const { munmap(memory, bytes); }

void Memory::use(std::int64_t begin, std::int64_t end) {
  if (begin < end) pieces_.emplace_back(Piece{begin, end, {}, nullptr});
}

std::int64_t Memory::plan() {
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::vector<Piece> merged;
  for (Piece& piece : pieces_) {
    if (merged.empty() || piece.begin > merged.back().end + kNear) {
      merged.push_back(std::move(piece));
    } else {
      merged.back().end = std::max(merged.back().end, piece.end);
    }
  }
  pieces_ = std::move(merged);
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces_) bytes += piece.end - piece.begin;
  return bytes;
}

void Memory::make() {
  for (Piece& piece : pieces_) {
    const std::int64_t offset = (piece.begin % kAlignment + kAlignment) % kAlignment;
    const auto bytes = static_cast<std::size_t>(piece.end - piece.begin + offset + kAlignment);
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      throw Failure("replay-memory",
                    "no memory for buffers of " + std::to_string(bytes) + " bytes");
    }
    piece.mapped = {static_cast<std::byte*>(mapped), Unmap{bytes}};
    const auto address = reinterpret_cast<std::uintptr_t>(mapped);
    const std::uintptr_t aligned = (address + kAlignment - 1) / kAlignment * kAlignment;
    piece.first = piece.mapped.get() + (aligned - address) + offset;
  }
}

void Memory::clear() {
  for (const Piece& piece : pieces_) {
    std::memset(piece.first, 0, static_cast<std::size_t>(piece.end - piece.begin));
  }
}

void* Memory::at(std::int64_t place) const {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), place,
                       [](std::int64_t value, const Piece& piece) { return value < piece.begin; });
  static std::byte nothing[64];
  if (after == pieces_.begin()) return nothing;
  const Piece& piece = *(after - 1);
  if (place > piece.end) return nothing;
  return piece.first + (place - piece.begin);
}

}  // namespace sumac::replay

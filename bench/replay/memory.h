// SPDX-License-Identifier: BSD-3-Clause
// The buffers of a record: memory in which those that overlapped do so again, each as far from a
// multiple of 2 MiB as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sumac::replay {

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* memory) const;
};

class Memory {
 public:
  // Bytes [begin, end) are used, at these places of the record. To be called before make().
  void use(std::int64_t begin, std::int64_t end);
  // The number of bytes that are needed.
  std::int64_t plan();
  // Throws Failure where there is no such memory.
  void make();
  // All bytes become zero.
  void clear();

  // Where a place is. One that nothing uses is at an address that must not be used either.
  void* at(std::int64_t place) const;
  // Where a buffer is whose bytes begin this far behind its place.
  void* buffer(std::int64_t place, std::int64_t lower) const {
    const auto address = reinterpret_cast<std::uintptr_t>(at(place + lower));
    return reinterpret_cast<void*>(address - static_cast<std::uintptr_t>(lower));
  }

 private:
  struct Piece {
    std::int64_t begin, end;
    std::unique_ptr<std::byte, Unmap> mapped;
    std::byte* first = nullptr;  // of `begin`
  };
  std::vector<Piece> pieces_;
};

}  // namespace sumac::replay

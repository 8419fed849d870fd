// SPDX-License-Identifier: BSD-3-Clause
// A vector is cut into chunks that fit a slot, and a chunk into one part for each rank. This is
// arithmetic only, a function of values that all ranks share.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/cpu.h"

namespace sumac {

struct Part {
  std::size_t offset;  // bytes
  std::size_t bytes;
};

// Cuts `total` bytes into chunks of at most `most` bytes, of equal size (except the last), in whole
// units.
class Chunks {
 public:
  Chunks(std::size_t total, std::size_t most, std::size_t unit) : total_(total) {
    const std::size_t wanted = std::max<std::size_t>(1, div_up(total, most / unit * unit));
    size_ = std::max(unit, round_up(div_up(total, wanted), unit));
    count_ = std::max<std::size_t>(1, div_up(total, size_));
  }

  std::size_t count() const { return count_; }
  std::size_t most() const { return std::min(size_, total_); }  // bytes of the largest chunk
  Part operator[](std::size_t chunk) const {
    const std::size_t offset = std::min(total_, chunk * size_);
    return {offset, std::min(size_, total_ - offset)};
  }

 private:
  std::size_t total_, size_, count_;
};

// Returns the chunks of a pipeline over slots, as large as a slot takes. Between two ranks every
// flag costs two transfers of a cache line, and four chunks of 4 KiB took a third longer than one
// of 16 KiB.
inline Chunks slot_chunks(std::size_t total, std::size_t slot_bytes,
                          std::size_t unit = kCacheLine) {
  return {total, slot_bytes, unit};
}

// Returns the part of rank `index` when `bytes` bytes are divided in whole units (of whole
// elements). The last ranks may get none.
inline Part part_of(std::size_t bytes, int ranks, int index, std::size_t unit = kCacheLine) {
  const std::size_t share = round_up(div_up(bytes, static_cast<std::size_t>(ranks)), unit);
  const std::size_t offset = std::min(bytes, static_cast<std::size_t>(index) * share);
  return {offset, std::min(share, bytes - offset)};
}

// A vector has one part for each rank. The parts are either computed, in whole units of equal size,
// or listed.
struct Parts {
  std::size_t bytes = 0;  // bytes of all parts
  int ranks = 1;
  std::size_t unit = kCacheLine;  // parts that are not listed are whole units
  int first = 0;  // rank 0 has the part of this number: 0, or that of a rank after it
  const Part* listed = nullptr;  // [ranks]

  Part operator[](int rank) const {
    if (listed) return listed[rank];
    return part_of(bytes, ranks, (rank + first) % ranks, unit);
  }
  std::size_t largest() const {
    std::size_t most = 0;
    for (int r = 0; r < ranks; ++r) most = std::max(most, (*this)[r].bytes);
    return most;
  }
  // Returns the bytes of the parts of `count` ranks, starting with `rank` and wrapping around.
  std::size_t bytes_of(int rank, int count) const {
    std::size_t sum = 0;
    for (int i = 0; i < count; ++i) sum += (*this)[(rank + i) % ranks].bytes;
    return sum;
  }
  // Returns true if the parts lie one behind the other in the order of ranks, from the beginning of
  // the vector.
  bool adjoin() const {
    std::size_t end = 0;
    for (int r = 0; r < ranks; ++r) {
      const Part part = (*this)[r];
      if (part.bytes > 0 && part.offset != end) return false;
      end += part.bytes;
    }
    return true;
  }
};

}  // namespace sumac

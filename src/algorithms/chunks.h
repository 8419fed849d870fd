// SPDX-License-Identifier: BSD-3-Clause
// How a vector is cut: into chunks that fit a slot, and a chunk into one part a rank. Arithmetic
// only, a function of values all ranks share.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/align.h"

namespace sumac {

struct Part {
  std::size_t offset;  // bytes
  std::size_t bytes;
};

// `total` bytes in chunks of at most `most` bytes, of equal size (but the last), in whole units.
class Chunks {
 public:
  Chunks(std::size_t total, std::size_t most, std::size_t unit) : total_(total) {
    const std::size_t wanted = std::max<std::size_t>(1, div_up(total, most / unit * unit));
    size_ = std::max(unit, round_up(div_up(total, wanted), unit));
    count_ = std::max<std::size_t>(1, div_up(total, size_));
  }

  std::size_t count() const { return count_; }
  Part operator[](std::size_t chunk) const {
    const std::size_t offset = std::min(total_, chunk * size_);
    return {offset, std::min(size_, total_ - offset)};
  }

 private:
  std::size_t total_, size_, count_;
};

// Chunks of a pipeline over slots. As large as a slot takes: between two ranks every flag costs two
// transfers of a cache line, and four chunks of 4 KiB took a third longer than one of 16 KiB.
inline Chunks slot_chunks(std::size_t total, std::size_t slot_bytes,
                          std::size_t unit = kCacheLine) {
  return {total, slot_bytes, unit};
}

// Rank `index`'s part of `bytes`, in whole units (of whole elements); late ranks may get none.
inline Part part_of(std::size_t bytes, int ranks, int index, std::size_t unit = kCacheLine) {
  const std::size_t share = round_up(div_up(bytes, static_cast<std::size_t>(ranks)), unit);
  const std::size_t offset = std::min(bytes, static_cast<std::size_t>(index) * share);
  return {offset, std::min(share, bytes - offset)};
}

}  // namespace sumac

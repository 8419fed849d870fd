// SPDX-License-Identifier: BSD-3-Clause
#include "devices/staging.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

namespace sumac {
namespace {

// Blocks are powers of two of bytes. The larger ones are not kept, and so much at most.
constexpr std::size_t kLeast = 4096, kMostKept = 256 << 20, kMostOfAll = 512 << 20;
constexpr int kSizes = 64;

struct KeptBlocks {
  std::mutex mutex;
  std::vector<std::byte*> blocks[kSizes];
  std::size_t bytes = 0;  // size of all blocks that are kept, in use or not
};

// Never destroyed, since calls may come while the process ends.
KeptBlocks& kept() {
  static auto* the_kept = new KeptBlocks;
  return *the_kept;
}

std::byte* map(std::size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

// Returns null if no block of this size is kept; `may_keep` says if another one may be.
std::byte* take_kept(std::size_t bytes, bool& may_keep) {
  KeptBlocks& all = kept();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto& blocks = all.blocks[std::countr_zero(bytes)];
  if (!blocks.empty()) {
    std::byte* const block = blocks.back();
    blocks.pop_back();
    return block;
  }
  may_keep = bytes <= kMostKept && all.bytes + bytes <= kMostOfAll;
  if (may_keep) all.bytes += bytes;
  return nullptr;
}

}  // namespace

StagingMemory::StagingMemory(std::size_t bytes, const DevicePlace& place)
    : bytes_(std::bit_ceil(std::max(bytes, kLeast))) {
  bool keeps = true;
  data_ = take_kept(bytes_, keeps);
  if (data_) return;
  if (keeps) {
    data_ = map(bytes_);
    if (data_ && place.runtime) place.runtime->pin(place, data_, bytes_);
    return;
  }
  bytes_ = bytes;
  data_ = map(bytes_);
}

StagingMemory::~StagingMemory() {
  if (!data_) return;
  if (!std::has_single_bit(bytes_) || bytes_ > kMostKept) {
    munmap(data_, bytes_);
    return;
  }
  KeptBlocks& all = kept();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.blocks[std::countr_zero(bytes_)].push_back(data_);
}

}  // namespace sumac

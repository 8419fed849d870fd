// SPDX-License-Identifier: BSD-3-Clause
// Host memory in the place of device memory, for one call.
#pragma once

#include <cstddef>

#include "devices/runtime.h"

namespace sumac {

// The memory is the process's own pages, so that other ranks can reach it like any buffer. Blocks
// that are not too large are kept for later calls, and registered with the run-time, whose copies
// are then faster.
class StagingMemory {
 public:
  // Takes a block for data of a device at `place`. data() is null if there is no memory.
  StagingMemory(std::size_t bytes, const DevicePlace& place);
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;  // size of the block
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// How the bytes of another rank's own buffers are reached, behind one small interface: cross-memory
// attach now; mapped pages could follow.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  // Copies `bytes` bytes at `address` in the peer's address space to `to`. The peer keeps the
  // buffer valid meanwhile. Returns false when the peer is gone or access was withdrawn.
  virtual bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) = 0;
  virtual bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) = 0;
};

}  // namespace sumac

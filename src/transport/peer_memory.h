// SPDX-License-Identifier: BSD-3-Clause
// This small interface reaches the bytes of another rank's own buffers: it shows them in place if
// they are mapped into this process, and copies them otherwise. Cross-memory attach copies.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sumac {

// All ranks of a group can do this with one another's buffers. Each value includes those before it.
enum class Reach : std::uint8_t {
  none,
  copies,  // read() and write()
  maps,    // also view(), of buffers that their owner has mapped for the others
};

// A peer keeps a buffer that it has shown valid until the operation has ended.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  // Returns where this process sees `bytes` bytes at `address` in the peer's address space, or null
  // if they can only be copied. Callers may ask only for memory that the peer has shown to be
  // mapped for others in the operation going on: the same buffer may be mapped in one operation and
  // not in the next.
  virtual std::byte* view(int /*peer*/, std::uintptr_t /*address*/, std::size_t /*bytes*/) {
    return nullptr;
  }
  // Copies `bytes` bytes at `address` in the peer's address space to `to`, or from `from` to there.
  // Returns false if the kernel refuses: the memory is protected or not the process's, the peer is
  // gone, or access was withdrawn. Some bytes may have been copied.
  virtual bool read(int peer, std::uintptr_t address, void* to, std::size_t bytes) = 0;
  virtual bool write(int peer, std::uintptr_t address, const void* from, std::size_t bytes) = 0;
};

}  // namespace sumac

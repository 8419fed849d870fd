// SPDX-License-Identifier: BSD-3-Clause
// A call's data are packed bytes, wherever they lie in the program's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/copy_from_peer.h"

namespace sumac {

// A layout says how the packed bytes of one buffer of the program lie in its memory. It belongs to
// one call of one rank: other ranks may describe the same bytes differently. It copies any range,
// in any order.
class ByteLayout {
 public:
  virtual void pack(std::size_t offset, std::size_t bytes, std::byte* to) const = 0;
  virtual void unpack(std::size_t offset, std::size_t bytes, const std::byte* from) const = 0;

 protected:
  ~ByteLayout() = default;
};

// These packed bytes can be read. Without a layout they lie one behind the other.
class ConstBytes {
 public:
  ConstBytes(const std::byte* at = nullptr) : place_(reinterpret_cast<std::uintptr_t>(at)) {}
  ConstBytes(const ByteLayout* layout, std::size_t offset) : place_(offset), layout_(layout) {}

  bool contiguous() const { return !layout_; }
  // Returns the address of the first byte. Only contiguous data have one.
  const std::byte* at() const { return reinterpret_cast<const std::byte*>(place_); }

  ConstBytes operator+(std::size_t offset) const { return {place_ + offset, layout_}; }
  bool operator==(const ConstBytes&) const = default;

  // A program that passes no bytes may pass no address, which memcpy must not get.
  void copy_to(std::byte* to, std::size_t bytes) const {
    if (layout_) [[unlikely]]
      return layout_->pack(place_, bytes, to);
    if (bytes > 0) [[likely]]
      std::memcpy(to, at(), bytes);
  }
  // Returns the address of the bytes, which are copied to `scratch` unless they are contiguous.
  const std::byte* packed(std::byte* scratch, std::size_t bytes) const {
    if (contiguous()) [[likely]]
      return at();
    copy_to(scratch, bytes);
    return scratch;
  }

 protected:
  ConstBytes(std::uintptr_t place, const ByteLayout* layout) : place_(place), layout_(layout) {}

  std::uintptr_t place_;  // an address, or an offset in the layout
  const ByteLayout* layout_ = nullptr;
};

// These packed bytes can also be written.
class Bytes : public ConstBytes {
 public:
  Bytes(std::byte* at = nullptr) : ConstBytes(at) {}
  Bytes(const ByteLayout* layout, std::size_t offset) : ConstBytes(layout, offset) {}

  std::byte* at() const { return reinterpret_cast<std::byte*>(place_); }
  Bytes operator+(std::size_t offset) const { return Bytes(place_ + offset, layout_); }

  void copy_from(const std::byte* from, std::size_t bytes) const {
    if (layout_) [[unlikely]]
      return layout_->unpack(place_, bytes, from);
    if (bytes > 0) [[likely]]
      std::memcpy(at(), from, bytes);
  }
  // Does the same for bytes that another rank has written.
  void copy_from_peer(const std::byte* from, std::size_t bytes) const {
    if (layout_) [[unlikely]]
      return layout_->unpack(place_, bytes, from);
    sumac::copy_from_peer(at(), from, bytes);
  }
  // Returns the data themselves if they are contiguous, else `scratch`, which take() then copies
  // from.
  std::byte* contiguous_or(std::byte* scratch) const { return contiguous() ? at() : scratch; }
  // Copies bytes that were received at that address to their places, unless they are there.
  void take(const std::byte* from, std::size_t bytes) const {
    if (layout_) copy_from(from, bytes);
  }

 private:
  Bytes(std::uintptr_t place, const ByteLayout* layout) : ConstBytes(place, layout) {}
};

// Both may have a layout. They must not overlap.
inline void copy_bytes(const ConstBytes& from, const Bytes& to, std::size_t bytes) {
  if (to.contiguous()) [[likely]]
    return from.copy_to(to.at(), bytes);
  std::byte block[2048];
  for (std::size_t done = 0; done < bytes; done += sizeof block) {
    const std::size_t some = std::min(bytes - done, sizeof block);
    (to + done).copy_from((from + done).packed(block, some), some);
  }
}

}  // namespace sumac

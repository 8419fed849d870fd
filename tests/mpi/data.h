// SPDX-License-Identifier: BSD-3-Clause
// Buffers that detect stray writes, and input data that every rank can compute for all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace test {

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15ull); }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

// Memory that a program may pass to MPI, but not touch, and a second mapping of it that the program
// may touch: see tests/devices/device_memory.h.
struct OtherMemory {
  virtual ~OtherMemory() = default;
  // Returns the second mapping of new memory and sets where the memory is; or returns null: then
  // the buffer is in the program's own memory.
  virtual unsigned char* make(std::size_t bytes, unsigned char*& memory) = 0;
  virtual void drop(unsigned char* memory) = 0;
};
inline OtherMemory*& other_memory() {
  static OtherMemory* the_memory = nullptr;
  return the_memory;
}

// A buffer of `bytes` bytes at a chosen misalignment, with guard bytes on both sides.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes, std::size_t misalignment = 0) : bytes_(bytes) {
    const std::size_t size = bytes + 2 * kGuard;
    unsigned char* other = nullptr;
    unsigned char* view = other_memory() ? other_memory()->make(size, other) : nullptr;
    if (!view) {
      memory_.reset(new unsigned char[size]);
      view = memory_.get();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(view);
    data_ = view + kGuard + misalignment + ((address + 63) / 64 * 64 - address);
    given_ = other ? other + (data_ - view) : data_;
    other_.reset(other);
    std::memset(before(), kFill, kWatched);
    std::memset(data_ + bytes_, kFill, kWatched);
  }
  void* data() { return data_; }
  // The address for MPI; the program itself uses that of data().
  unsigned char* given() { return given_; }
  template <class T>
  T* as() {
    return static_cast<T*>(data());
  }
  bool guards_hold() const { return all_filled(before()) && all_filled(data_ + bytes_); }
  void fill(unsigned char byte) {
    if (bytes_) std::memset(data_, byte, bytes_);
  }

 private:
  static constexpr std::size_t kWatched = 64, kGuard = 3 * kWatched;
  static constexpr unsigned char kFill = 0xa5;
  unsigned char* before() const { return data_ - kWatched; }
  static bool all_filled(const unsigned char* place) {
    for (std::size_t i = 0; i < kWatched; ++i) {
      if (place[i] != kFill) return false;
    }
    return true;
  }
  std::unique_ptr<unsigned char[]> memory_;
  struct DropOther {
    void operator()(unsigned char* memory) const { other_memory()->drop(memory); }
  };
  std::unique_ptr<unsigned char, DropOther> other_;
  unsigned char *data_ = nullptr, *given_ = nullptr;
  std::size_t bytes_;
};

// When true, all floating-point inputs are small whole numbers, whose sum is the same in every
// order: a hierarchy adds in another order than a serial loop.
inline bool& whole_numbers() {
  static bool whole = false;
  return whole;
}

// Element `i` of rank `r`'s input. Floating-point numbers have both signs and many magnitudes, so
// that a different order of additions gives a different sum.
template <class T>
T value(int r, std::size_t i, std::uint64_t seed = 0) {
  const std::uint64_t bits = mix(seed + i * 0x9e3779b97f4a7c15ull + static_cast<unsigned>(r) * 77u);
  if constexpr (std::is_floating_point_v<T>) {
    if (whole_numbers()) return static_cast<T>(static_cast<int>(bits % 2048) - 1024);
    const double fraction = static_cast<double>(bits >> 12) / static_cast<double>(1ull << 52);
    return static_cast<T>((fraction - 0.5) * static_cast<double>(1 << (bits & 15)));
  } else {
    return static_cast<T>(bits);
  }
}

// The operations as the standard defines them. Integers wrap around; the left operand comes first.
struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
    }
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct Bxor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

}  // namespace test

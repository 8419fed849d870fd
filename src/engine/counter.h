// SPDX-License-Identifier: BSD-3-Clause
// Monotonic counters: the only thing ranks and levels ever wait for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac {

// One writer, any number of readers, in shared or private memory. It only grows, and may wrap.
using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free, "a lock would not work between processes");

inline bool reached(const Counter& counter, std::uint64_t target) {
  return static_cast<std::int64_t>(counter.load(std::memory_order_acquire) - target) >= 0;
}

// Publishes everything written before it to whoever sees the new value.
inline void publish(Counter& counter, std::uint64_t value) {
  counter.store(value, std::memory_order_release);
}

// A condition: `count` counters, `stride` bytes apart, have all reached `target`.
class Wait {
 public:
  Wait() = default;
  Wait(const Counter& counter, std::uint64_t target) : Wait(counter, 0, 1, target) {}
  Wait(const Counter& first, std::size_t stride, int count, std::uint64_t target)
      : next_(reinterpret_cast<const std::byte*>(&first)),
        stride_(stride),
        remaining_(count),
        target_(target) {}

  // Counters seen to have reached the target are not read again.
  bool ready() {
    while (remaining_ > 0 && reached(*first_missing(), target_)) {
      next_ += stride_;
      --remaining_;
    }
    return remaining_ == 0;
  }

  // The first counter known to be short of the target; only while not ready().
  const Counter* first_missing() const { return reinterpret_cast<const Counter*>(next_); }
  std::size_t stride() const { return stride_; }
  int remaining() const { return remaining_; }
  std::uint64_t target() const { return target_; }

 private:
  const std::byte* next_ = nullptr;
  std::size_t stride_ = 0;
  int remaining_ = 0;
  std::uint64_t target_ = 0;
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Ranks and levels only ever wait for monotonic counters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac {

// A counter in shared or private memory with one writer and any number of readers. It only grows,
// and may wrap.
using Counter = std::atomic<std::uint64_t>;
static_assert(Counter::is_always_lock_free, "a lock would not work between processes");

inline bool reached(const Counter& counter, std::uint64_t target, std::uint64_t beyond) {
  return counter.load(std::memory_order_acquire) - target <= beyond;
}

// Stores the value; a reader that sees it also sees everything written before it.
inline void publish(Counter& counter, std::uint64_t value) {
  counter.store(value, std::memory_order_release);
}

// A Wait is a condition: counters that lie `stride` bytes apart in a circle of `places` have all
// reached `target`. The counters may begin anywhere in the circle and need not go all round: a rank
// begins with its right neighbour, so that not all ranks wait for rank 0 first, and never reads its
// own flag. (Reading back a flag just published costs as much as reading another rank's: 100 of the
// 320 ns of a barrier, measured.)
class Wait {
 public:
  // A counter may exceed the target by this much: by any number (kAny), or not at all (kExact).
  static constexpr std::uint64_t kAny = INT64_MAX, kExact = 0;

  Wait() = default;
  Wait(const Counter& counter, std::uint64_t target) : Wait(counter, 0, 1, 0, 1, target) {}
  // Waits for the `count` counters at places begin, begin + 1, ... (modulo `places`).
  Wait(const Counter& first, std::size_t stride, int places, int begin, int count,
       std::uint64_t target, std::uint64_t beyond = kAny)
      : first_(reinterpret_cast<const std::byte*>(&first)),
        stride_(stride),
        target_(target),
        beyond_(beyond),
        places_(places),
        next_(begin == places ? 0 : begin),
        remaining_(count) {}

  // Returns true if there is no counter to wait for.
  bool trivial() const { return remaining_ == 0; }

  // Becomes a copy of `other`. If that has no counters, only their number is read: the condition
  // was mostly made just now, by stores narrower than the loads of a copy, and such loads wait
  // until all stores before them have left the processor, the flag on its way to the other ranks
  // among them.
  void take(const Wait& other) {
    if (other.trivial()) {
      remaining_ = 0;
    } else {
      *this = other;
    }
  }

  // Returns true if all counters have reached the target. Counters seen to have reached it are not
  // read again.
  bool ready() {
    while (remaining_ > 0 && reached(*counter(next_), target_, beyond_)) advance();
    return remaining_ == 0;
  }

  // Calls visit(counter) for each counter that has not reached the target.
  template <class Visit>
  void for_each_missing(Visit visit) const {
    Wait rest = *this;
    for (; rest.remaining_ > 0; rest.advance()) {
      if (!reached(*rest.counter(rest.next_), target_, beyond_)) visit(*rest.counter(rest.next_));
    }
  }

 private:
  const Counter* counter(int place) const {
    return reinterpret_cast<const Counter*>(first_ + static_cast<std::size_t>(place) * stride_);
  }
  void advance() {
    next_ = next_ + 1 == places_ ? 0 : next_ + 1;
    --remaining_;
  }

  const std::byte* first_ = nullptr;
  std::size_t stride_ = 0;
  std::uint64_t target_ = 0, beyond_ = kAny;
  int places_ = 1;
  int next_ = 0;
  int remaining_ = 0;
};

}  // namespace sumac

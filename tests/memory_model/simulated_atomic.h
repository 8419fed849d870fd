// SPDX-License-Identifier: BSD-3-Clause
// Compiles the library's own sources on Relacy, a simulator of the C++ memory model: after this
// header std::atomic and std::atomic_thread_fence are simulated ones. To be included before any of
// the project's headers; the program must link none of the library that has atomics.
//
// A simulated atomic is as large as a real one, so that the layout of shared memory stays as it is.
// Its value is in a pool, found by the atomic's address; all begin with 0, as in a new block.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <relacy/relacy.hpp>
#pragma GCC diagnostic pop
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

namespace simulated {

// What is left out on purpose, to see that the simulator finds it.
enum class Broken { nothing, releases, acquires, fences };
inline Broken broken = Broken::nothing;

// The orders that are left when stores do not release, or loads do not acquire.
inline rl::memory_order order(std::memory_order asked) {
  const bool releases = broken != Broken::releases, acquires = broken != Broken::acquires;
  switch (asked) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
    case std::memory_order_acquire:
      return acquires ? rl::mo_acquire : rl::mo_relaxed;
    case std::memory_order_release:
      return releases ? rl::mo_release : rl::mo_relaxed;
    case std::memory_order_acq_rel:
      if (releases && acquires) return rl::mo_acq_rel;
      return releases ? rl::mo_release : rl::mo_acquire;
    case std::memory_order_seq_cst:
      break;
  }
  return rl::mo_seq_cst;
}

// The values of all atomics of one simulated execution.
class Pool {
 public:
  static constexpr std::size_t kMost = 160;
  using Value = rl::atomic<std::uint64_t>;

  // To be called before the threads start.
  void clear() {
    for (Value& value : values_) value.store(0, rl::mo_relaxed, RL_INFO);
    used_ = 0;
  }
  // Allocates nothing: in an execution the simulator has its own memory.
  Value& at(const void* address) {
    std::size_t place = 0;
    while (place < used_ && addresses_[place] != address) ++place;
    if (place == kMost) std::abort();
    if (place == used_) addresses_[used_++] = address;
    return values_[place];
  }

 private:
  Value values_[kMost];
  const void* addresses_[kMost];
  std::size_t used_ = 0;
};
inline Pool* pool = nullptr;

}  // namespace simulated

namespace std {

template <class T>
class simulated_atomic {
 public:
  static constexpr bool is_always_lock_free = true;
  simulated_atomic() = default;
  simulated_atomic(T) {}

  T load(memory_order asked = memory_order_seq_cst) const {
    return static_cast<T>(value().load(simulated::order(asked), RL_INFO));
  }
  void store(T to, memory_order asked = memory_order_seq_cst) {
    value().store(to, simulated::order(asked), RL_INFO);
  }
  T exchange(T to, memory_order asked = memory_order_seq_cst) {
    return static_cast<T>(
        value().rmw(rl::rmw_type_t<rl::rmw_type_swap>(), to, simulated::order(asked), RL_INFO));
  }
  bool compare_exchange_weak(T& seen, T to, memory_order asked = memory_order_seq_cst) {
    std::uint64_t word = seen;
    const bool done = value().compare_exchange_weak(word, to, simulated::order(asked), RL_INFO);
    seen = static_cast<T>(word);
    return done;
  }

 private:
  simulated::Pool::Value& value() const { return simulated::pool->at(this); }
  T memory_{};  // never used: it makes the atomic as large as a real one
};

inline void simulated_atomic_thread_fence(memory_order asked) {
  if (simulated::broken == simulated::Broken::fences) return;
  const rl::memory_order left = simulated::order(asked);
  if (left != rl::mo_relaxed) rl::atomic_thread_fence(left, RL_INFO);
}

}  // namespace std

#define atomic simulated_atomic
#define atomic_thread_fence simulated_atomic_thread_fence

// SPDX-License-Identifier: BSD-3-Clause
// Some addresses cannot be a device's, whatever the program has allocated and freed: no driver has
// to be asked about them.
#pragma once

#include <cstdint>

// The C library's end of the heap; null where the library has no such variable.
extern "C" [[gnu::weak]] void* __curbrk;

namespace sumac {

struct HostRange {
  std::uintptr_t begin = 0, end = 0;
  bool has(std::uintptr_t at) const { return at - begin < end - begin; }
};

// These are known after learn_sure_host(); the heap's end changes.
extern HostRange program_data;
extern std::uintptr_t begin_of_heap;
void learn_sure_host();

// The end is 0 until the thread asks for the first time.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local HostRange own_stack;
void find_own_stack();

// A user-level thread has a stack of its own, elsewhere: then nothing is certain.
[[gnu::always_inline]] inline bool is_on_own_stack(std::uintptr_t at) {
  if (own_stack.end == 0) [[unlikely]]
    find_own_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return own_stack.has(here) && at >= here && at < own_stack.end;
}

inline bool is_in_heap(std::uintptr_t at) {
  return at >= begin_of_heap && &__curbrk && at < reinterpret_cast<std::uintptr_t>(__curbrk);
}

// Returns true for addresses in the calling thread's stack, in the heap that brk() makes, and in
// the data of the program itself, which is never unloaded. A driver may know them as pinned.
[[gnu::always_inline]] inline bool is_surely_host(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return is_on_own_stack(at) || is_in_heap(at) || program_data.has(at);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The run-times in the process tell in which memory a buffer is.
//
// Idea   They are asked each time: an address may be freed and allocated again as memory of another
//        kind, and no hook sees all of that.
#pragma once

#include <atomic>

#include "devices/runtimes.h"
#include "devices/sure_host.h"

namespace sumac {

// False as long as all memory counts as the host's.
extern std::atomic<bool> buffers_are_looked_at;
inline bool looks_at_buffers() { return buffers_are_looked_at.load(std::memory_order_acquire); }

// Must be called when a run-time may have been loaded, if buffers are to be looked at. Once there
// is one, or one may come, each call finds out by itself.
void look_at_buffers(bool any_may_come);

// Asks the run-times, if there are any, until one knows the address.
DevicePlace place_of(const void* address);

// Returns true for null, and for addresses that cannot be a device's.
[[gnu::always_inline]] inline bool is_never_on_device(const void* address) {
  return !address || is_surely_host(address);
}
// Returns true if the host cannot touch this memory. Does not ask about addresses that cannot be a
// device's.
bool is_on_device(const void* address);

// Memory has one kind within a page of this size, and all of it changes at once.
inline constexpr std::size_t kDevicePage = 4096;
inline bool are_in_one_page(const void* a, const void* b) {
  return (reinterpret_cast<std::uintptr_t>(a) ^ reinterpret_cast<std::uintptr_t>(b)) < kDevicePage;
}

// Returns true if a run-time knows any page of these: such pages must stay what they are.
bool is_known_to_driver(const void* address, std::size_t bytes);

}  // namespace sumac

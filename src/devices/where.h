// SPDX-License-Identifier: BSD-3-Clause
// The driver tells in which memory a buffer is.
//
// Idea   The driver is asked each time: an address may be freed and allocated again as memory of
//        another kind, and no hook sees all of that.
#pragma once

#include <atomic>

#include "devices/driver.h"
#include "devices/sure_host.h"

namespace sumac {

enum class MemoryKind : std::uint8_t {
  host,     // the program's own
  pinned,   // host memory that a driver knows: devices may use its pages
  managed,  // host and devices use it, and the driver moves its pages
  device,   // the host cannot touch it
};

struct DevicePlace {
  MemoryKind memory = MemoryKind::host;
  int device = 0;                         // its ordinal, for managed and device memory
  CudaDriver::Context context = nullptr;  // the allocation's, if it has one
};

// False as long as all memory counts as the host's.
extern std::atomic<bool> buffers_are_looked_at;
inline bool looks_at_buffers() { return buffers_are_looked_at.load(std::memory_order_acquire); }

// Must be called when a driver may have been loaded, if buffers are to be looked at. Once there is
// one, or `may_come_late`, each call finds out by itself.
void look_at_buffers(bool may_come_late);
// Returns true if the kernel has NVIDIA's module, so that a driver can be used.
bool machine_has_devices();

// Asks the driver, if there is one.
DevicePlace place_of(const void* address);

// Returns true if the host cannot touch this memory, as the driver says.
bool is_asked_on_device(const void* address);
// Does the same, but does not ask about null and addresses that cannot be a device's.
bool is_on_device(const void* address);
// Returns true for null, and for addresses that cannot be a device's.
[[gnu::always_inline]] inline bool is_never_on_device(const void* address) {
  return !address || is_surely_host(address);
}

// Returns true if a driver knows any page of these: such pages must stay what they are.
bool is_known_to_driver(const void* address, std::size_t bytes);

}  // namespace sumac

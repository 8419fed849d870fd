// SPDX-License-Identifier: BSD-3-Clause
#include "devices/where.h"

#include <mutex>

namespace sumac {

std::atomic<bool> buffers_are_looked_at{false};

void look_at_buffers(bool any_may_come) {
  static std::once_flag learnt;
  expect_runtimes(any_may_come);
  const bool may_come = any_may_come || machine_has_devices();
  if (find_runtimes().empty() && !may_come) return;
  std::call_once(learnt, learn_sure_host);
  buffers_are_looked_at.store(true, std::memory_order_release);
}

DevicePlace place_of(const void* address) {
  if (!looks_at_buffers()) return {};
  for (DeviceRuntime* runtime : find_runtimes()) {
    const DevicePlace place = runtime->place_of(address);
    if (place.memory != MemoryKind::host) return place;
  }
  return {};
}

bool is_on_device(const void* address) {
  if (!looks_at_buffers() || is_never_on_device(address)) return false;
  return place_of(address).memory == MemoryKind::device;
}

bool is_known_to_driver(const void* address, std::size_t bytes) {
  if (!looks_at_buffers() || find_runtimes().empty()) return false;
  const auto* const begin = static_cast<const std::byte*>(address);
  for (std::size_t at = 0; at < bytes; at += kDevicePage) {
    if (place_of(begin + at).memory != MemoryKind::host) return true;
  }
  return bytes > 0 && place_of(begin + bytes - 1).memory != MemoryKind::host;
}

}  // namespace sumac

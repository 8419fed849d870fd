// SPDX-License-Identifier: BSD-3-Clause
#include "devices/where.h"

#include <unistd.h>

#include <mutex>

#include "devices/contexts.h"

namespace sumac {
namespace {

// These are values of CUpointer_attribute and CUmemorytype.
constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8, kDeviceOrdinal = 9;
constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;
constexpr std::size_t kPage = 4096;

CudaDriver::Address address_of(const void* pointer) {
  return reinterpret_cast<CudaDriver::Address>(pointer);
}

// Returns false after an error, which the driver also gives before it is initialised and when it
// shuts down: no address can be a device's then.
template <unsigned count>
bool ask(const CudaDriver& driver, const void* address, const int (&what)[count],
         void* (&values)[count]) {
  int error = driver.PointerGetAttributes(count, what, values, address_of(address));
  if (error == kCudaInvalidContext) [[unlikely]] {
    const CurrentContext current(driver, any_context(driver));
    error = driver.PointerGetAttributes(count, what, values, address_of(address));
  }
  return error == kCudaSuccess;
}

// The driver gives zeros for memory that it does not know.
MemoryKind kind_of(const CudaDriver& driver, const void* address) {
  constexpr int kAsked[] = {kMemoryType, kIsManaged};
  unsigned type = 0, managed = 0;
  void* values[] = {&type, &managed};
  if (!ask(driver, address, kAsked, values)) return MemoryKind::host;
  if (managed) return MemoryKind::managed;
  if (type == kDeviceMemory) return MemoryKind::device;
  return type == kHostMemory ? MemoryKind::pinned : MemoryKind::host;
}

}  // namespace

std::atomic<bool> buffers_are_looked_at{false};

void look_at_buffers(bool may_come_late) {
  static std::once_flag learnt;
  if (!find_driver() && !may_come_late) return;
  std::call_once(learnt, learn_sure_host);
  buffers_are_looked_at.store(true, std::memory_order_release);
}

// The last two are those of Linux in Windows, and of systems on a chip.
bool machine_has_devices() {
  for (const char* path : {"/proc/driver/nvidia", "/dev/dxg", "/dev/nvhost-ctrl-gpu"}) {
    if (access(path, F_OK) == 0) return true;
  }
  return false;
}

DevicePlace place_of(const void* address) {
  const CudaDriver* const driver = looks_at_buffers() ? find_driver() : nullptr;
  if (!driver) return {};
  DevicePlace place{kind_of(*driver, address), 0, nullptr};
  constexpr int kAsked[] = {kDeviceOrdinal, kContext};
  void* values[] = {&place.device, &place.context};
  if (place.memory >= MemoryKind::managed) ask(*driver, address, kAsked, values);
  return place;
}

bool is_asked_on_device(const void* address) {
  const CudaDriver* const driver = looks_at_buffers() ? find_driver() : nullptr;
  return driver && kind_of(*driver, address) == MemoryKind::device;
}

bool is_on_device(const void* address) {
  return looks_at_buffers() && !is_never_on_device(address) && is_asked_on_device(address);
}

bool is_known_to_driver(const void* address, std::size_t bytes) {
  const CudaDriver* const driver = looks_at_buffers() ? find_driver() : nullptr;
  if (!driver) return false;
  const auto* const begin = static_cast<const std::byte*>(address);
  for (std::size_t at = 0; at < bytes; at += kPage) {
    if (kind_of(*driver, begin + at) != MemoryKind::host) return true;
  }
  return bytes > 0 && kind_of(*driver, begin + bytes - 1) != MemoryKind::host;
}

}  // namespace sumac

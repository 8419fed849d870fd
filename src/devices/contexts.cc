// SPDX-License-Identifier: BSD-3-Clause
#include "devices/contexts.h"

#include <mutex>

namespace sumac {
namespace {

constexpr int kMostDevices = 64;

// The primary context of a device is retained once, and never released: streams in it last.
struct Primary {
  CudaDriver::Context context = nullptr;
  CudaDriver::Stream stream = nullptr;
};
Primary primaries[kMostDevices];
std::mutex retaining;

bool is_active(const CudaDriver& driver, int ordinal) {
  int device = 0, active = 0;
  unsigned flags = 0;
  return driver.DeviceGet(&device, ordinal) == kCudaSuccess &&
         driver.DevicePrimaryCtxGetState(device, &flags, &active) == kCudaSuccess && active;
}

// The caller must hold the lock.
int retain(const CudaDriver& driver, int ordinal) {
  Primary& primary = primaries[ordinal];
  if (primary.context) return kCudaSuccess;
  int device = 0;
  const int error = driver.DeviceGet(&device, ordinal);
  return error != kCudaSuccess ? error : driver.DevicePrimaryCtxRetain(&primary.context, device);
}

// Streams of these flags run in order with the program's default stream, so that a program that has
// not waited for what it did there still gets what it means.
int make_stream(const CudaDriver& driver, Primary& primary) {
  constexpr unsigned kInOrderWithDefault = 0;
  if (primary.stream) return kCudaSuccess;
  const CurrentContext current(driver, primary.context);
  if (current.error() != kCudaSuccess) return current.error();
  return driver.StreamCreate(&primary.stream, kInOrderWithDefault);
}

}  // namespace

CudaDriver::Context any_context(const CudaDriver& driver) {
  int count = 0;
  if (driver.DeviceGetCount(&count) != kCudaSuccess) return nullptr;
  const std::lock_guard<std::mutex> lock(retaining);
  for (int ordinal = 0; ordinal < count && ordinal < kMostDevices; ++ordinal) {
    if (!is_active(driver, ordinal)) continue;
    if (retain(driver, ordinal) == kCudaSuccess) return primaries[ordinal].context;
  }
  return nullptr;
}

CopyWay way_to(const CudaDriver& driver, const DevicePlace& place) {
  if (place.device < 0 || place.device >= kMostDevices) return {nullptr, nullptr, 101};
  const std::lock_guard<std::mutex> lock(retaining);
  Primary& primary = primaries[place.device];
  // A program may have contexts of its own and no primary one, which would take memory.
  if (place.context && !primary.context && !is_active(driver, place.device)) {
    return {place.context, nullptr, kCudaSuccess};
  }
  int error = retain(driver, place.device);
  if (error == kCudaSuccess && place.context && place.context != primary.context) {
    return {place.context, nullptr, kCudaSuccess};
  }
  if (error == kCudaSuccess) error = make_stream(driver, primary);
  if (error != kCudaSuccess) return {nullptr, nullptr, error};
  return {primary.context, primary.stream, kCudaSuccess};
}

}  // namespace sumac

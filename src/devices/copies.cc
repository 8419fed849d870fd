// SPDX-License-Identifier: BSD-3-Clause
#include "devices/copies.h"

namespace sumac {

DeviceCopies::DeviceCopies(const DevicePlace& place)
    : driver_(find_driver()), way_(way_to(*driver_, place)), error_(way_.error) {}

template <class Copy>
void DeviceCopies::copy(Copy copy) {
  if (error_ != kCudaSuccess) return;
  const CurrentContext current(*driver_, way_.context);
  error_ = current.error();
  if (error_ == kCudaSuccess) error_ = copy();
  under_way_ |= error_ == kCudaSuccess;
}

void DeviceCopies::to_host(void* to, const void* from, std::size_t bytes) {
  copy([&] {
    const auto at = reinterpret_cast<CudaDriver::Address>(from);
    return driver_->MemcpyDtoHAsync(to, at, bytes, way_.stream);
  });
}

void DeviceCopies::to_device(void* to, const void* from, std::size_t bytes) {
  copy([&] {
    const auto at = reinterpret_cast<CudaDriver::Address>(to);
    return driver_->MemcpyHtoDAsync(at, from, bytes, way_.stream);
  });
}

int DeviceCopies::finish() {
  if (!under_way_) return error_;
  under_way_ = false;
  const CurrentContext current(*driver_, way_.context);
  int error = current.error();
  if (error == kCudaSuccess) error = driver_->StreamSynchronize(way_.stream);
  if (error_ == kCudaSuccess) error_ = error;
  return error_;
}

const char* name_of_device_error(int error) {
  const CudaDriver* const driver = find_driver();
  const char* name = nullptr;
  if (!driver || driver->GetErrorName(error, &name) != kCudaSuccess || !name) return "unknown";
  return name;
}

}  // namespace sumac

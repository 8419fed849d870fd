// SPDX-License-Identifier: BSD-3-Clause
// Copies between host memory and one device's, by the driver.
#pragma once

#include "devices/contexts.h"

namespace sumac {

// The copies are under way when a function returns, until finish(). After an error nothing more is
// copied.
class DeviceCopies {
 public:
  // `place` is where the device's data are.
  explicit DeviceCopies(const DevicePlace& place);
  ~DeviceCopies() { finish(); }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  void to_host(void* to, const void* from, std::size_t bytes);
  void to_device(void* to, const void* from, std::size_t bytes);
  // Waits for the copies. Returns 0, or the first error.
  int finish();

 private:
  template <class Copy>
  void copy(Copy copy);

  const CudaDriver* driver_;
  CopyWay way_;
  int error_;
  bool under_way_ = false;
};

// Returns the driver's name of an error: "CUDA_ERROR_INVALID_VALUE".
const char* name_of_device_error(int error);

}  // namespace sumac

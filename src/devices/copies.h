// SPDX-License-Identifier: BSD-3-Clause
// Copies between host memory and one device's, by its run-time.
#pragma once

#include <string>

#include "devices/runtime.h"

namespace sumac {

// An error of a run-time's; none if `code` is 0.
struct DeviceError {
  DeviceRuntime* runtime = nullptr;
  int code = 0;

  explicit operator bool() const { return code != 0; }
  std::string name() const { return runtime ? runtime->error_name(code) : "unknown"; }
};

// The copies in one direction. They are under way when begin() returns, until finish(). After an
// error nothing more is copied.
class DeviceCopies {
 public:
  // `place` is where the device's data are.
  DeviceCopies(const DevicePlace& place, Towards towards) : place_(place), towards_(towards) {}
  ~DeviceCopies() { finish(); }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  void begin(void* to, const void* from, std::size_t bytes) {
    if (error_ != 0) return;
    error_ = place_.runtime->copy(place_, towards_, to, from, bytes);
    under_way_ |= error_ == 0;
  }
  // Waits for the copies. Returns the first error.
  DeviceError finish() {
    const int error = under_way_ ? place_.runtime->wait(place_, towards_) : 0;
    under_way_ = false;
    if (error_ == 0) error_ = error;
    return {place_.runtime, error_};
  }

 private:
  DevicePlace place_;
  Towards towards_;
  int error_ = 0;
  bool under_way_ = false;
};

}  // namespace sumac

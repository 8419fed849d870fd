// SPDX-License-Identifier: BSD-3-Clause
// The driver works in the context that is current in the calling thread, which may be none, or one
// of another device than the memory's.
#pragma once

#include "devices/where.h"

namespace sumac {

// A context is current for as long as this exists.
class CurrentContext {
 public:
  CurrentContext(const CudaDriver& driver, CudaDriver::Context context)
      : driver_(driver), error_(context ? driver.CtxPushCurrent(context) : kCudaInvalidContext) {}
  ~CurrentContext() {
    CudaDriver::Context popped = nullptr;
    if (error_ == kCudaSuccess) driver_.CtxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  int error() const { return error_; }

 private:
  const CudaDriver& driver_;
  int error_;
};

// Returns the primary context of some device that has one already; null if there is none.
CudaDriver::Context any_context(const CudaDriver& driver);

// A context and a stream in it, in which memory at a place can be copied. In a primary context the
// stream is Sumac's own. The context is null after an error.
struct CopyWay {
  CudaDriver::Context context = nullptr;
  CudaDriver::Stream stream = nullptr;
  int error = kCudaSuccess;
};
CopyWay way_to(const CudaDriver& driver, const DevicePlace& place);

}  // namespace sumac

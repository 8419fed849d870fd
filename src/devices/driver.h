// SPDX-License-Identifier: BSD-3-Clause
// CUDA's driver is found in the process, and its functions by their names: nothing of CUDA is
// needed to build Sumac, and nothing is loaded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sumac {

// These are the functions that Sumac calls, as cuda.h declares them. They return 0 or an error.
struct CudaDriver {
  using Address = unsigned long long;
  using Context = void*;
  using Stream = void*;

  int (*PointerGetAttributes)(unsigned count, const int* attributes, void** values, Address of);
  int (*DeviceGet)(int* device, int ordinal);
  int (*DeviceGetCount)(int* count);
  int (*DevicePrimaryCtxGetState)(int device, unsigned* flags, int* active);
  int (*DevicePrimaryCtxRetain)(Context* context, int device);
  int (*CtxPushCurrent)(Context context);
  int (*CtxPopCurrent)(Context* context);
  int (*StreamCreate)(Stream* stream, unsigned flags);
  int (*StreamSynchronize)(Stream stream);
  int (*MemcpyDtoHAsync)(void* to, Address from, std::size_t bytes, Stream stream);
  int (*MemcpyHtoDAsync)(Address to, const void* from, std::size_t bytes, Stream stream);
  int (*MemHostRegister)(void* address, std::size_t bytes, unsigned flags);
  int (*GetErrorName)(int error, const char** name);
};

// The second one means that a context must be made current first.
inline constexpr int kCudaSuccess = 0, kCudaInvalidContext = 201;

// Returns the driver, or null if it is not loaded. Looks again only if objects were loaded since
// the last time; a driver that was found stays loaded.
const CudaDriver* find_driver();
// Returns the driver that was found last.
extern std::atomic<const CudaDriver*> found_driver;

// Returns true if a run-time library for GPUs is loaded whose memory Sumac cannot tell from host
// memory: HIP, Level Zero, or a driver of CUDA that lacks functions.
bool is_unknown_runtime_loaded();

}  // namespace sumac

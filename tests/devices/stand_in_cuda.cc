// SPDX-License-Identifier: BSD-3-Clause
// The stand-in for CUDA's driver, built as libcuda.so.1. It has two devices; memory is on the
// first, with its primary context.
#include <atomic>

#include "stand_in_memory.h"

namespace {

using stand_in::Copied;
using stand_in::Kind;
using stand_in::memory;

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kLaunchFailed = 719,
};
constexpr int kDevices = 2;

std::atomic<bool> query_needs_context{false}, active[kDevices];
char contexts[kDevices];
stand_in::Stream default_stream;
thread_local std::vector<void*> current;

int state() {
  constexpr int kErrors[] = {kNotInitialized, kSuccess, kDeinitialized};
  return kErrors[static_cast<int>(memory().state())];
}

void* pointer(unsigned long long address) { return reinterpret_cast<void*>(address); }

bool has_context() { return !current.empty() && current.back(); }

int copy(void* to, const void* from, std::size_t bytes, void* given, bool to_host) {
  if (const int error = state()) return error;
  if (!has_context()) return kInvalidContext;
  auto& stream = given ? *static_cast<stand_in::Stream*>(given) : default_stream;
  switch (memory().copy(stream, to, from, bytes, to_host)) {
    case Copied::well:
      return kSuccess;
    case Copied::badly:
      return kInvalidValue;
    case Copied::failed:
      break;
  }
  return kLaunchFailed;
}

}  // namespace

STAND_IN_EXPORT void stand_in_query_needs_context(int needs) { query_needs_context = needs != 0; }

STAND_IN_EXPORT int cuInit(unsigned) {
  memory().initialise();
  active[0] = true;
  return state();
}

STAND_IN_EXPORT int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (const int error = state()) return error;
  *address = reinterpret_cast<std::uintptr_t>(memory().allocate(bytes, false));
  return *address ? kSuccess : kOutOfMemory;
}

STAND_IN_EXPORT int cuMemAllocManaged(unsigned long long* address, std::size_t bytes, unsigned) {
  if (const int error = state()) return error;
  *address = reinterpret_cast<std::uintptr_t>(memory().allocate(bytes, true));
  return *address ? kSuccess : kOutOfMemory;
}

STAND_IN_EXPORT int cuMemFree_v2(unsigned long long address) {
  return memory().free(pointer(address)) ? kSuccess : kInvalidValue;
}

STAND_IN_EXPORT int cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned) {
  if (const int error = state()) return error;
  memory().pin(address, bytes);
  return kSuccess;
}

STAND_IN_EXPORT int cuMemHostUnregister(void* address) {
  return memory().unpin(address) ? kSuccess : kInvalidValue;
}

STAND_IN_EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                           unsigned long long address) {
  constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8;
  const bool first = count > 0 && attributes[0] == kMemoryType;
  if (const int error = state()) return error;
  if (query_needs_context && !has_context()) return kInvalidContext;
  const Kind kind = memory().kind_of(pointer(address), !first);
  const bool known = kind == Kind::device || kind == Kind::managed;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case kContext:
        *static_cast<void**>(values[i]) = known ? &contexts[0] : nullptr;
        break;
      case kMemoryType:
        *static_cast<unsigned*>(values[i]) = known ? 2 : kind == Kind::pinned ? 1 : 0;
        break;
      case kIsManaged:
        *static_cast<unsigned*>(values[i]) = kind == Kind::managed;
        break;
      default:
        *static_cast<int*>(values[i]) = known ? 0 : -2;
    }
  }
  return kSuccess;
}

STAND_IN_EXPORT int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes,
                                         void* stream) {
  return copy(to, pointer(from), bytes, stream, true);
}

STAND_IN_EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes,
                                         void* stream) {
  return copy(pointer(to), from, bytes, stream, false);
}

STAND_IN_EXPORT int cuStreamCreate(void** stream, unsigned) {
  if (!has_context()) return kInvalidContext;
  auto* const made = new stand_in::Stream;
  made->device = static_cast<int>(static_cast<char*>(current.back()) - contexts);
  *stream = made;
  return state();
}

STAND_IN_EXPORT int cuStreamSynchronize(void* stream) {
  memory().wait(stream ? *static_cast<stand_in::Stream*>(stream) : default_stream);
  return state();
}

STAND_IN_EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < kDevices ? state() : kInvalidDevice;
}

STAND_IN_EXPORT int cuDeviceGetCount(int* count) {
  *count = kDevices;
  return state();
}

STAND_IN_EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = active[device] || memory().state() == stand_in::State::ready;
  return state();
}

STAND_IN_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &contexts[device];
  active[device] = true;
  return state();
}

STAND_IN_EXPORT int cuCtxPushCurrent_v2(void* context) {
  if (context < contexts || context >= contexts + kDevices) return kInvalidContext;
  current.push_back(context);
  return state();
}

STAND_IN_EXPORT int cuCtxPopCurrent_v2(void** context) {
  if (current.empty()) return kInvalidContext;
  *context = current.back();
  current.pop_back();
  return kSuccess;
}

STAND_IN_EXPORT int cuGetErrorName(int error, const char** name) {
  *name = error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
  return kSuccess;
}

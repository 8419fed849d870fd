// SPDX-License-Identifier: BSD-3-Clause
// The stand-in for HIP, built as libamdhip64.so of ROCm 5 and of ROCm 6 (STAND_IN_ROCM), whose
// values of hipMemoryType differ. It has two devices; memory is on the first. The real HIP
// initialises itself in any call, which Sumac must not cause.
#include "stand_in_memory.h"

namespace {

using stand_in::Copied;
using stand_in::Kind;
using stand_in::memory;
using stand_in::State;

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kDeinitialized = 4,
  kInvalidDevice = 101,
  kLaunchFailure = 719,
};
constexpr int kDevices = 2;
constexpr int kHost = STAND_IN_ROCM >= 6 ? 1 : 0, kDevice = STAND_IN_ROCM >= 6 ? 2 : 1;
// ROCm 6 has a value of its own for managed memory.
constexpr int kManaged = STAND_IN_ROCM >= 6 ? 3 : kDevice;

thread_local int last_error = kSuccess, current = 0;

// Every function ends so: the thread's last error is the last that a function returned.
int end(int error) {
  if (error != kSuccess) last_error = error;
  return error;
}

// Every function begins so.
bool is_ready() {
  if (memory().state() == State::not_initialised) memory().note_mistake();
  return memory().state() == State::ready;
}

struct PointerAttributes {
  int type, device;
  void *on_device, *on_host;
  int is_managed;
  unsigned flags;
};

}  // namespace

#if STAND_IN_ROCM >= 6
STAND_IN_EXPORT int hipGetDevicePropertiesR0600(void*, int) { return end(kInvalidValue); }
#endif

// This one is ROCm's lower layer's, which a program's HIP is linked to.
STAND_IN_EXPORT int hsa_system_get_info(int, void* value) {
  constexpr int kNotInitialized = 0x100b;
  *static_cast<std::uint16_t*>(value) = 1;
  return memory().state() == State::not_initialised ? kNotInitialized : kSuccess;
}

STAND_IN_EXPORT int hipPointerGetAttributes(PointerAttributes* is, const void* address) {
  if (!is_ready()) return end(kDeinitialized);
  const Kind kind = memory().kind_of(address);
  if (kind == Kind::unknown) return end(kInvalidValue);
  *is = {kind == Kind::device ? kDevice : kHost, 0, nullptr, nullptr, 0, 0};
  if (kind == Kind::managed) is->type = kManaged, is->is_managed = 1;
  return end(kSuccess);
}

STAND_IN_EXPORT int hipGetLastError() {
  const int error = last_error;
  last_error = kSuccess;
  return error;
}
STAND_IN_EXPORT int hipPeekAtLastError() { return last_error; }

STAND_IN_EXPORT int hipGetDevice(int* device) {
  *device = current;
  return end(is_ready() ? kSuccess : kDeinitialized);
}

STAND_IN_EXPORT int hipSetDevice(int device) {
  if (device < 0 || device >= kDevices) return end(kInvalidDevice);
  current = device;
  return end(is_ready() ? kSuccess : kDeinitialized);
}

STAND_IN_EXPORT int hipStreamCreateWithFlags(void** stream, unsigned) {
  auto* const made = new stand_in::Stream;
  made->device = current;
  *stream = made;
  return end(is_ready() ? kSuccess : kDeinitialized);
}

STAND_IN_EXPORT int hipStreamSynchronize(void* stream) {
  memory().wait(*static_cast<stand_in::Stream*>(stream));
  return end(is_ready() ? kSuccess : kDeinitialized);
}

STAND_IN_EXPORT int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                   void* stream) {
  constexpr int kDeviceToHost = 2;
  if (!is_ready()) return end(kDeinitialized);
  auto& on = *static_cast<stand_in::Stream*>(stream);
  switch (memory().copy(on, to, from, bytes, kind == kDeviceToHost)) {
    case Copied::well:
      return end(kSuccess);
    case Copied::badly:
      return end(kInvalidValue);
    case Copied::failed:
      break;
  }
  return end(kLaunchFailure);
}

STAND_IN_EXPORT int hipHostRegister(void* address, std::size_t bytes, unsigned) {
  if (!is_ready()) return end(kDeinitialized);
  memory().pin(address, bytes);
  return end(kSuccess);
}

STAND_IN_EXPORT const char* hipGetErrorName(int error) {
  return error == kLaunchFailure ? "hipErrorLaunchFailure" : "hipErrorUnknown";
}

STAND_IN_EXPORT void stand_in_query_needs_context(int) {}

// SPDX-License-Identifier: BSD-3-Clause
// HIP. It works on the device that is current in the calling thread, but streams and memory know
// their own.
#include <mutex>

#include "devices/runtime.h"

namespace sumac {
namespace {

using Stream = void*;

// hipPointerAttribute_t has had this layout since HIP 3; its first field was renamed in ROCm 6.
struct PointerAttributes {
  int type;  // hipMemoryType
  int device;
  void* on_device;
  void* on_host;
  int is_managed;
  unsigned flags;
};

// These are the functions that Sumac calls, as hip_runtime_api.h declares them.
struct HipFunctions {
  int (*PointerGetAttributes)(PointerAttributes* attributes, const void* of);
  int (*GetLastError)();
  int (*PeekAtLastError)();
  int (*GetDevice)(int* device);
  int (*SetDevice)(int device);
  int (*StreamCreateWithFlags)(Stream* stream, unsigned flags);
  int (*StreamSynchronize)(Stream stream);
  int (*MemcpyAsync)(void* to, const void* from, std::size_t bytes, int kind, Stream stream);
  int (*HostRegister)(void* address, std::size_t bytes, unsigned flags);
  const char* (*GetErrorName)(int error);
};

constexpr int kSuccess = 0, kInvalidDevice = 101;
constexpr int kMostDevices = 64;

// A device is current for as long as this exists.
class CurrentDevice {
 public:
  CurrentDevice(const HipFunctions& hip, int device) : hip_(hip), error_(hip.GetDevice(&before_)) {
    if (error_ == kSuccess && device != before_) error_ = hip.SetDevice(device);
    changed_ = error_ == kSuccess && device != before_;
  }
  ~CurrentDevice() {
    if (changed_) hip_.SetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  int error() const { return error_; }

 private:
  const HipFunctions& hip_;
  int before_ = 0, error_;
  bool changed_ = false;
};

class Hip final : public DeviceRuntime {
 public:
  Hip(const char* const* kernel_modules) : DeviceRuntime("/libamdhip64.so", kernel_modules) {}

  bool find_functions(void* library) override;
  DevicePlace place_of(const void* address) override;
  int copy(const DevicePlace& place, Towards towards, void* to, const void* from,
           std::size_t bytes) override;
  int wait(const DevicePlace& place, Towards towards) override;
  void pin(const DevicePlace& place, void* pages, std::size_t bytes) override;
  std::string error_name(int error) override;

 private:
  bool is_initialised() const;
  int stream_of(const DevicePlace& place, Towards towards, Stream& stream);

  HipFunctions hip_{};
  // ROCm's lower layer, which HIP initialises; null if HIP is not linked to it.
  int (*system_info_)(int attribute, void* value) = nullptr;
  int host_memory_ = 0, device_memory_ = 0;  // values of hipMemoryType
  std::mutex making_;
  Stream streams_[kMostDevices][2] = {};
};

// ROCm 6 changed the values of hipMemoryType to those of CUDA. A library has the newer ones if it
// has the function that took the place of hipGetDeviceProperties in the same release, under a new
// name because its structure changed too.
bool Hip::find_functions(void* library) {
  void* properties_of_rocm_6 = nullptr;
  const bool newer = find(library, "hipGetDevicePropertiesR0600", properties_of_rocm_6);
  host_memory_ = newer ? 1 : 0;
  device_memory_ = newer ? 2 : 1;
  find(library, "hsa_system_get_info", system_info_);
  return find(library, "hipPointerGetAttributes", hip_.PointerGetAttributes) &&
         find(library, "hipGetLastError", hip_.GetLastError) &&
         find(library, "hipPeekAtLastError", hip_.PeekAtLastError) &&
         find(library, "hipGetDevice", hip_.GetDevice) &&
         find(library, "hipSetDevice", hip_.SetDevice) &&
         find(library, "hipStreamCreateWithFlags", hip_.StreamCreateWithFlags) &&
         find(library, "hipStreamSynchronize", hip_.StreamSynchronize) &&
         find(library, "hipMemcpyAsync", hip_.MemcpyAsync) &&
         find(library, "hipHostRegister", hip_.HostRegister) &&
         find(library, "hipGetErrorName", hip_.GetErrorName);
}

// Any function of HIP would initialise it, which opens the devices; the layer below tells.
bool Hip::is_initialised() const {
  constexpr int kVersionMajor = 0;
  std::uint16_t version = 0;
  return !system_info_ || system_info_(kVersionMajor, &version) == 0;
}

// HIP gives an error for memory that it does not know, which the program would find as its thread's
// last error. So that is cleared, unless the program had an error pending.
DevicePlace Hip::place_of(const void* address) {
  if (!is_initialised()) return {};
  const bool pending = hip_.PeekAtLastError() != kSuccess;
  PointerAttributes is{};
  if (hip_.PointerGetAttributes(&is, address) != kSuccess) {
    if (!pending) hip_.GetLastError();
    return {};
  }
  DevicePlace place{MemoryKind::host, this, is.device, nullptr};
  if (is.is_managed) {
    place.memory = MemoryKind::managed;
  } else if (is.type == device_memory_) {
    place.memory = MemoryKind::device;
  } else if (is.type == host_memory_) {
    place.memory = MemoryKind::pinned;
  }
  return place;
}

// Streams of these flags run in order with the program's null stream.
int Hip::stream_of(const DevicePlace& place, Towards towards, Stream& stream) {
  constexpr unsigned kInOrderWithNull = 0;
  if (place.device < 0 || place.device >= kMostDevices) return kInvalidDevice;
  const std::lock_guard<std::mutex> lock(making_);
  Stream& kept = streams_[place.device][static_cast<int>(towards)];
  const int error = kept ? kSuccess : hip_.StreamCreateWithFlags(&kept, kInOrderWithNull);
  stream = kept;
  return error;
}

int Hip::copy(const DevicePlace& place, Towards towards, void* to, const void* from,
              std::size_t bytes) {
  constexpr int kHostToDevice = 1, kDeviceToHost = 2;
  const CurrentDevice current(hip_, place.device);
  if (current.error() != kSuccess) return current.error();
  Stream stream = nullptr;
  if (const int error = stream_of(place, towards, stream)) return error;
  const int kind = towards == Towards::host ? kDeviceToHost : kHostToDevice;
  return hip_.MemcpyAsync(to, from, bytes, kind, stream);
}

int Hip::wait(const DevicePlace& place, Towards towards) {
  const CurrentDevice current(hip_, place.device);
  if (current.error() != kSuccess) return current.error();
  Stream stream = nullptr;
  const int error = stream_of(place, towards, stream);
  return error != kSuccess ? error : hip_.StreamSynchronize(stream);
}

void Hip::pin(const DevicePlace& place, void* pages, std::size_t bytes) {
  constexpr unsigned kForAllDevices = 1;
  const bool pending = hip_.PeekAtLastError() != kSuccess;
  const CurrentDevice current(hip_, place.device);
  if (current.error() != kSuccess) return;
  if (hip_.HostRegister(pages, bytes, kForAllDevices) != kSuccess && !pending) hip_.GetLastError();
}

std::string Hip::error_name(int error) {
  const char* const name = hip_.GetErrorName(error);
  return name ? name : "HIP's error " + std::to_string(error);
}

}  // namespace

DeviceRuntime& hip() {
  static constexpr const char* kModules[] = {"/dev/kfd", nullptr};
  static auto* the_runtime = new Hip(kModules);
  return *the_runtime;
}

}  // namespace sumac

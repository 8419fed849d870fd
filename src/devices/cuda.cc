// SPDX-License-Identifier: BSD-3-Clause
// CUDA's driver. It works in the context that is current in the calling thread, which may be none,
// or one of another device than the memory's.
#include <mutex>

#include "devices/runtime.h"

namespace sumac {
namespace {

using Address = unsigned long long;
using Context = void*;
using Stream = void*;

// These are the functions that Sumac calls, as cuda.h declares them. They return 0 or an error.
struct CudaFunctions {
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

// The third one means that a context must be made current first.
constexpr int kSuccess = 0, kInvalidDevice = 101, kInvalidContext = 201;
// These are values of CUpointer_attribute and CUmemorytype.
constexpr int kContext = 1, kMemoryType = 2, kIsManaged = 8, kDeviceOrdinal = 9;
constexpr unsigned kUnknownMemory = 0, kDeviceMemory = 2;
constexpr int kMostDevices = 64;

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

// A context is current for as long as this exists.
class CurrentContext {
 public:
  CurrentContext(const CudaFunctions& driver, Context context)
      : driver_(driver), error_(context ? driver.CtxPushCurrent(context) : kInvalidContext) {}
  ~CurrentContext() {
    Context popped = nullptr;
    if (error_ == kSuccess) driver_.CtxPopCurrent(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  int error() const { return error_; }

 private:
  const CudaFunctions& driver_;
  int error_;
};

// A context and a stream in it, in which memory at a place can be copied.
struct CudaWay {
  Context context = nullptr;
  Stream stream = nullptr;
  int error = kSuccess;
};

class Cuda final : public DeviceRuntime {
 public:
  Cuda(const char* const* kernel_modules) : DeviceRuntime("/libcuda.so", kernel_modules) {}

  bool find_functions(void* library) override;
  DevicePlace place_of(const void* address) override;
  int copy(const DevicePlace& place, Towards towards, void* to, const void* from,
           std::size_t bytes) override;
  int wait(const DevicePlace& place, Towards towards) override;
  void pin(const DevicePlace& place, void* pages, std::size_t bytes) override;
  std::string error_name(int error) override;

 private:
  // The primary context of a device is retained once, and never released: streams in it last.
  struct Primary {
    Context context = nullptr;
    Stream streams[2] = {};
  };

  template <unsigned count>
  bool ask(const void* address, const int (&what)[count], void* (&values)[count]);
  bool is_active(int ordinal) const;
  int retain(int ordinal);
  int make_stream(Primary& primary, Stream& stream) const;
  Context any_context();
  CudaWay way_to(const DevicePlace& place, Towards towards);

  CudaFunctions driver_{};
  std::mutex retaining_;
  Primary primaries_[kMostDevices];
};

bool Cuda::find_functions(void* library) {
  return find(library, "cuPointerGetAttributes", driver_.PointerGetAttributes) &&
         find(library, "cuDeviceGet", driver_.DeviceGet) &&
         find(library, "cuDeviceGetCount", driver_.DeviceGetCount) &&
         find(library, "cuDevicePrimaryCtxGetState", driver_.DevicePrimaryCtxGetState) &&
         find(library, "cuDevicePrimaryCtxRetain", driver_.DevicePrimaryCtxRetain) &&
         find(library, "cuCtxPushCurrent_v2", driver_.CtxPushCurrent) &&
         find(library, "cuCtxPopCurrent_v2", driver_.CtxPopCurrent) &&
         find(library, "cuStreamCreate", driver_.StreamCreate) &&
         find(library, "cuStreamSynchronize", driver_.StreamSynchronize) &&
         find(library, "cuMemcpyDtoHAsync_v2", driver_.MemcpyDtoHAsync) &&
         find(library, "cuMemcpyHtoDAsync_v2", driver_.MemcpyHtoDAsync) &&
         find(library, "cuMemHostRegister_v2", driver_.MemHostRegister) &&
         find(library, "cuGetErrorName", driver_.GetErrorName);
}

// Returns false after an error, which the driver also gives before it is initialised and when it
// shuts down.
template <unsigned count>
bool Cuda::ask(const void* address, const int (&what)[count], void* (&values)[count]) {
  int error = driver_.PointerGetAttributes(count, what, values, address_of(address));
  if (error == kInvalidContext) [[unlikely]] {
    const CurrentContext current(driver_, any_context());
    error = driver_.PointerGetAttributes(count, what, values, address_of(address));
  }
  return error == kSuccess;
}

// The driver gives zeros for memory that it does not know. Most memory is the host's, so that is
// found out first: each attribute costs time.
DevicePlace Cuda::place_of(const void* address) {
  constexpr int kType[] = {kMemoryType};
  unsigned type = 0, managed = 0;
  void* first[] = {&type};
  if (!ask(address, kType, first) || type == kUnknownMemory) return {};
  DevicePlace place{MemoryKind::pinned, this, 0, nullptr};
  constexpr int kAsked[] = {kIsManaged, kDeviceOrdinal, kContext};
  void* values[] = {&managed, &place.device, &place.handle};
  if (!ask(address, kAsked, values)) return {};
  if (type == kDeviceMemory) place.memory = MemoryKind::device;
  if (managed) place.memory = MemoryKind::managed;
  return place;
}

bool Cuda::is_active(int ordinal) const {
  int device = 0, active = 0;
  unsigned flags = 0;
  return driver_.DeviceGet(&device, ordinal) == kSuccess &&
         driver_.DevicePrimaryCtxGetState(device, &flags, &active) == kSuccess && active;
}

// The caller must hold the lock.
int Cuda::retain(int ordinal) {
  Primary& primary = primaries_[ordinal];
  if (primary.context) return kSuccess;
  int device = 0;
  const int error = driver_.DeviceGet(&device, ordinal);
  return error != kSuccess ? error : driver_.DevicePrimaryCtxRetain(&primary.context, device);
}

// Streams of these flags run in order with the program's default stream, so that a program that has
// not waited for what it did there still gets what it means.
int Cuda::make_stream(Primary& primary, Stream& stream) const {
  constexpr unsigned kInOrderWithDefault = 0;
  if (stream) return kSuccess;
  const CurrentContext current(driver_, primary.context);
  if (current.error() != kSuccess) return current.error();
  return driver_.StreamCreate(&stream, kInOrderWithDefault);
}

// Returns the primary context of some device that has one already; null if there is none.
Context Cuda::any_context() {
  int count = 0;
  if (driver_.DeviceGetCount(&count) != kSuccess) return nullptr;
  const std::lock_guard<std::mutex> lock(retaining_);
  for (int ordinal = 0; ordinal < count && ordinal < kMostDevices; ++ordinal) {
    if (!is_active(ordinal)) continue;
    if (retain(ordinal) == kSuccess) return primaries_[ordinal].context;
  }
  return nullptr;
}

// In a primary context the stream is Sumac's own. The context is null after an error.
CudaWay Cuda::way_to(const DevicePlace& place, Towards towards) {
  if (place.device < 0 || place.device >= kMostDevices) return {nullptr, nullptr, kInvalidDevice};
  const std::lock_guard<std::mutex> lock(retaining_);
  Primary& primary = primaries_[place.device];
  // A program may have contexts of its own and no primary one, which would take memory.
  if (place.handle && !primary.context && !is_active(place.device)) {
    return {place.handle, nullptr, kSuccess};
  }
  int error = retain(place.device);
  if (error == kSuccess && place.handle && place.handle != primary.context) {
    return {place.handle, nullptr, kSuccess};
  }
  Stream& stream = primary.streams[static_cast<int>(towards)];
  if (error == kSuccess) error = make_stream(primary, stream);
  if (error != kSuccess) return {nullptr, nullptr, error};
  return {primary.context, stream, kSuccess};
}

int Cuda::copy(const DevicePlace& place, Towards towards, void* to, const void* from,
               std::size_t bytes) {
  const CudaWay way = way_to(place, towards);
  if (way.error != kSuccess) return way.error;
  const CurrentContext current(driver_, way.context);
  if (current.error() != kSuccess) return current.error();
  if (towards == Towards::host) {
    return driver_.MemcpyDtoHAsync(to, address_of(from), bytes, way.stream);
  }
  return driver_.MemcpyHtoDAsync(address_of(to), from, bytes, way.stream);
}

int Cuda::wait(const DevicePlace& place, Towards towards) {
  const CudaWay way = way_to(place, towards);
  if (way.error != kSuccess) return way.error;
  const CurrentContext current(driver_, way.context);
  return current.error() != kSuccess ? current.error() : driver_.StreamSynchronize(way.stream);
}

void Cuda::pin(const DevicePlace& place, void* pages, std::size_t bytes) {
  constexpr unsigned kForAllContexts = 1;
  const CurrentContext current(driver_, way_to(place, Towards::host).context);
  if (current.error() == kSuccess) driver_.MemHostRegister(pages, bytes, kForAllContexts);
}

std::string Cuda::error_name(int error) {
  const char* name = nullptr;
  if (driver_.GetErrorName(error, &name) == kSuccess && name) return name;
  return "CUDA's error " + std::to_string(error);
}

}  // namespace

// The last two modules are those of Linux in Windows, and of systems on a chip.
DeviceRuntime& cuda() {
  static constexpr const char* kModules[] = {"/proc/driver/nvidia", "/dev/dxg",
                                             "/dev/nvhost-ctrl-gpu", nullptr};
  static auto* the_runtime = new Cuda(kModules);
  return *the_runtime;
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The stand-in (stand_in.h), built as libcuda.so.1. It has two devices; memory is on the first,
// with its primary context. Copies are done no earlier than they must be.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "stand_in.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

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
constexpr std::size_t kPage = 4096, kArena = std::size_t{1} << 32;

enum class Kind { device, host, managed };
struct Allocation {
  std::size_t bytes;
  Kind kind;
};
struct Copy {
  char* to;
  const char* from;
  std::size_t bytes;
};

std::mutex mutex;
bool initialised = false, deinitialised = false, query_needs_context = false;
char *device_side = nullptr, *host_side = nullptr;  // of the same memory
std::map<std::uintptr_t, Allocation> allocations;
std::multimap<std::size_t, std::uintptr_t> freed;
std::map<std::uintptr_t, std::size_t> registered;
std::size_t used = 0;
std::vector<Copy> waiting;
StandInCounts counts{};
long copies_until_failure = -1;
unsigned delay = 0;
bool active[kDevices];
char contexts[kDevices];
thread_local std::vector<void*> current;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void map_memory() {
  const int file = memfd_create("stand-in", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(kArena)) != 0) std::abort();
  const auto map = [file](int access) {
    void* const at = mmap(nullptr, kArena, access, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED) std::abort();
    return static_cast<char*>(at);
  };
  device_side = map(PROT_NONE);
  host_side = map(PROT_READ | PROT_WRITE);
  close(file);
}

template <class Map>
typename Map::iterator containing(Map& map, std::uintptr_t at) {
  auto next = map.upper_bound(at);
  return next == map.begin() ? map.end() : std::prev(next);
}

// Returns the allocation that has all of these bytes, or null.
const Allocation* find(std::uintptr_t at, std::size_t bytes) {
  const auto found = containing(allocations, at);
  if (found == allocations.end()) return nullptr;
  return at + bytes <= found->first + found->second.bytes ? &found->second : nullptr;
}

char* view(std::uintptr_t at) {
  return host_side + (at - reinterpret_cast<std::uintptr_t>(device_side));
}

int state() { return deinitialised ? kDeinitialized : initialised ? kSuccess : kNotInitialized; }

int allocate(unsigned long long* address, std::size_t bytes, Kind kind) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (const int error = state()) return error;
  if (bytes == 0) return kInvalidValue;
  const std::size_t size = whole_pages(bytes);
  std::uintptr_t at = 0;
  if (const auto found = freed.find(size); found != freed.end()) {
    at = found->second;
    freed.erase(found);
  } else {
    if (used + size + kPage > kArena) return kOutOfMemory;
    at = reinterpret_cast<std::uintptr_t>(device_side) + used;
    used += size + kPage;
  }
  if (kind == Kind::managed) mprotect(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE);
  allocations[at] = {bytes, kind};
  *address = at;
  return kSuccess;
}

// Notes a copy to be done later.
int add_copy(char* to, const char* from, std::size_t bytes, std::uintptr_t on_device) {
  if (const int error = state()) return error;
  if (current.empty() || !current.back()) return kInvalidContext;
  const Allocation* const of = find(on_device, bytes);
  if (!of || of->kind == Kind::host) return kInvalidValue;
  if (copies_until_failure == 0) return kLaunchFailed;
  if (copies_until_failure > 0) --copies_until_failure;
  waiting.push_back({to, from, bytes});
  return kSuccess;
}

}  // namespace

EXPORT void* stand_in_view(unsigned long long address) { return view(address); }

EXPORT void stand_in_set_host(unsigned long long address, int is_host) {
  const std::lock_guard<std::mutex> lock(mutex);
  Allocation& of = allocations.at(address);
  of.kind = is_host ? Kind::host : Kind::device;
  mprotect(reinterpret_cast<void*>(address), whole_pages(of.bytes),
           is_host ? PROT_READ | PROT_WRITE : PROT_NONE);
}

EXPORT StandInCounts stand_in_counts() {
  const std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

EXPORT void stand_in_fail_copy(long after) { copies_until_failure = after; }
EXPORT void stand_in_delay(unsigned microseconds) { delay = microseconds; }
EXPORT void stand_in_shut_down() { deinitialised = true; }
EXPORT void stand_in_query_needs_context(int needs) { query_needs_context = needs != 0; }

EXPORT int cuInit(unsigned) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!initialised) map_memory();
  initialised = active[0] = true;
  return kSuccess;
}

EXPORT int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  return allocate(address, bytes, Kind::device);
}

EXPORT int cuMemAllocManaged(unsigned long long* address, std::size_t bytes, unsigned) {
  return allocate(address, bytes, Kind::managed);
}

EXPORT int cuMemFree_v2(unsigned long long address) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalidValue;
  const std::size_t size = whole_pages(found->second.bytes);
  mprotect(reinterpret_cast<void*>(address), size, PROT_NONE);
  freed.emplace(size, address);
  allocations.erase(found);
  return kSuccess;
}

EXPORT int cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (const int error = state()) return error;
  registered[reinterpret_cast<std::uintptr_t>(address)] = bytes;
  ++counts.registered;
  return kSuccess;
}

EXPORT int cuMemHostUnregister(void* address) {
  const std::lock_guard<std::mutex> lock(mutex);
  return registered.erase(reinterpret_cast<std::uintptr_t>(address)) ? kSuccess : kInvalidValue;
}

EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                  unsigned long long address) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++counts.queries;
  if (const int error = state()) return error;
  if (query_needs_context && (current.empty() || !current.back())) return kInvalidContext;
  const Allocation* const of = find(address, 1);
  const bool known = of && of->kind != Kind::host;
  const auto pinned = containing(registered, address);
  const bool is_pinned = pinned != registered.end() && address < pinned->first + pinned->second;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case 1:
        *static_cast<void**>(values[i]) = known ? &contexts[0] : nullptr;
        break;
      case 2:
        *static_cast<unsigned*>(values[i]) = known ? 2 : is_pinned ? 1 : 0;
        break;
      case 8:
        *static_cast<unsigned*>(values[i]) = known && of->kind == Kind::managed;
        break;
      default:
        *static_cast<int*>(values[i]) = known ? 0 : -2;
    }
  }
  return kSuccess;
}

EXPORT int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void*) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int error = add_copy(static_cast<char*>(to), view(from), bytes, from);
  if (error == kSuccess) ++counts.to_host, counts.bytes_to_host += bytes;
  return error;
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void*) {
  const std::lock_guard<std::mutex> lock(mutex);
  const int error = add_copy(view(to), static_cast<const char*>(from), bytes, to);
  if (error == kSuccess) ++counts.to_device, counts.bytes_to_device += bytes;
  return error;
}

EXPORT int cuStreamCreate(void** stream, unsigned) {
  static char only;
  *stream = &only;
  return current.empty() ? kInvalidContext : state();
}

EXPORT int cuStreamSynchronize(void*) {
  if (delay > 0) usleep(delay);
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Copy& copy : waiting) std::memcpy(copy.to, copy.from, copy.bytes);
  waiting.clear();
  return state();
}

EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < kDevices ? state() : kInvalidDevice;
}

EXPORT int cuDeviceGetCount(int* count) {
  *count = kDevices;
  return state();
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = active[device];
  return state();
}

EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &contexts[device];
  active[device] = true;
  return state();
}

EXPORT int cuCtxPushCurrent_v2(void* context) {
  if (context < contexts || context >= contexts + kDevices) return kInvalidContext;
  current.push_back(context);
  return state();
}

EXPORT int cuCtxPopCurrent_v2(void** context) {
  if (current.empty()) return kInvalidContext;
  *context = current.back();
  current.pop_back();
  return kSuccess;
}

EXPORT int cuGetErrorName(int error, const char** name) {
  *name = error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_UNKNOWN";
  return kSuccess;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "devices/driver.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <mutex>
#include <string>

namespace sumac {
namespace {

struct Loaded {
  std::string driver;  // its path, if it is loaded
  bool others = false;
  unsigned long long adds = 0;  // how many objects were ever loaded
};

int note_object(dl_phdr_info* object, std::size_t, void* state) {
  auto& loaded = *static_cast<Loaded*>(state);
  loaded.adds = object->dlpi_adds;
  const char* const name = object->dlpi_name;
  if (!name) return 0;
  if (std::strstr(name, "/libcuda.so")) loaded.driver = name;
  for (const char* runtime : {"/libamdhip64.so", "/libze_loader.so"}) {
    if (std::strstr(name, runtime)) loaded.others = true;
  }
  return 0;
}

int note_adds(dl_phdr_info* object, std::size_t, void* adds) {
  *static_cast<unsigned long long*>(adds) = object->dlpi_adds;
  return 1;
}

// Fills the table; returns false if a function is missing.
bool find_functions(void* library, CudaDriver& driver) {
  const auto find = [library](const char* name, auto& function) {
    void* const found = dlsym(library, name);
    std::memcpy(&function, &found, sizeof found);
    return found != nullptr;
  };
  return find("cuPointerGetAttributes", driver.PointerGetAttributes) &&
         find("cuDeviceGet", driver.DeviceGet) && find("cuDeviceGetCount", driver.DeviceGetCount) &&
         find("cuDevicePrimaryCtxGetState", driver.DevicePrimaryCtxGetState) &&
         find("cuDevicePrimaryCtxRetain", driver.DevicePrimaryCtxRetain) &&
         find("cuCtxPushCurrent_v2", driver.CtxPushCurrent) &&
         find("cuCtxPopCurrent_v2", driver.CtxPopCurrent) &&
         find("cuStreamCreate", driver.StreamCreate) &&
         find("cuStreamSynchronize", driver.StreamSynchronize) &&
         find("cuMemcpyDtoHAsync_v2", driver.MemcpyDtoHAsync) &&
         find("cuMemcpyHtoDAsync_v2", driver.MemcpyHtoDAsync) &&
         find("cuMemHostRegister_v2", driver.MemHostRegister) &&
         find("cuGetErrorName", driver.GetErrorName);
}

std::mutex finding;
CudaDriver functions;
std::atomic<bool> unknown_runtime{false};
std::atomic<unsigned long long> looked_at{0};  // objects that had been loaded when it was looked

// The caller must hold the lock.
void find_driver_in(const std::string& path) {
  if (path.empty() || found_driver.load(std::memory_order_relaxed)) return;
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (library && find_functions(library, functions)) {
    found_driver.store(&functions, std::memory_order_release);
  } else if (library) {
    unknown_runtime.store(true, std::memory_order_relaxed);
  }
}

// Looks at the objects that are loaded, if any was loaded since the last look. dlopen() must not be
// called inside dl_iterate_phdr().
void look() {
  unsigned long long adds = 0;
  dl_iterate_phdr(note_adds, &adds);
  if (adds == looked_at.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> lock(finding);
  Loaded loaded;
  dl_iterate_phdr(note_object, &loaded);
  if (loaded.others) unknown_runtime.store(true, std::memory_order_relaxed);
  find_driver_in(loaded.driver);
  looked_at.store(loaded.adds, std::memory_order_release);
}

}  // namespace

std::atomic<const CudaDriver*> found_driver{nullptr};

const CudaDriver* find_driver() {
  if (const CudaDriver* found = found_driver.load(std::memory_order_acquire)) return found;
  look();
  return found_driver.load(std::memory_order_acquire);
}

bool is_unknown_runtime_loaded() {
  look();
  return unknown_runtime.load(std::memory_order_relaxed);
}

}  // namespace sumac

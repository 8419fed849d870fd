// SPDX-License-Identifier: BSD-3-Clause
#include "devices/runtimes.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

namespace sumac {
namespace {

constexpr int kRuntimes = 3;
constexpr unsigned kAll = (1u << kRuntimes) - 1;

DeviceRuntime& runtime(int index) {
  switch (index) {
    case 0:
      return cuda();
    case 1:
      return hip();
    default:
      return level_zero();
  }
}

std::mutex finding;
DeviceRuntime* found[kRuntimes];
std::atomic<std::size_t> number_found{0};
std::atomic<unsigned> expected{0};  // bits of run-times that may be loaded later
std::atomic<bool> unknown_runtime{false};
std::atomic<unsigned long long> looked_at{0};  // objects that had been loaded at the last look
unsigned known = 0;                            // bits of run-times that need not be looked for

struct Loaded {
  std::string paths[kRuntimes];
  unsigned long long adds = 0;  // how many objects were ever loaded
};

int note_object(dl_phdr_info* object, std::size_t, void* state) {
  auto& loaded = *static_cast<Loaded*>(state);
  loaded.adds = object->dlpi_adds;
  if (!object->dlpi_name) return 0;
  for (int i = 0; i < kRuntimes; ++i) {
    if (std::strstr(object->dlpi_name, runtime(i).file)) loaded.paths[i] = object->dlpi_name;
  }
  return 0;
}

int note_adds(dl_phdr_info* object, std::size_t, void* adds) {
  *static_cast<unsigned long long*>(adds) = object->dlpi_adds;
  return 1;
}

// The caller must hold the lock.
void find_functions(int index, const std::string& path) {
  const unsigned bit = 1u << index;
  if (path.empty() || (known & bit)) return;
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (!library) return;
  known |= bit;
  expected.fetch_and(~bit, std::memory_order_relaxed);
  const std::size_t count = number_found.load(std::memory_order_relaxed);
  if (!runtime(index).find_functions(library)) {
    unknown_runtime.store(true, std::memory_order_relaxed);
    return;
  }
  found[count] = &runtime(index);
  number_found.store(count + 1, std::memory_order_release);
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
  for (int i = 0; i < kRuntimes; ++i) find_functions(i, loaded.paths[i]);
  looked_at.store(loaded.adds, std::memory_order_release);
}

bool has_module(const DeviceRuntime& of) {
  for (const char* const* path = of.modules; *path; ++path) {
    if (access(*path, F_OK) == 0) return true;
  }
  return false;
}

// The kernel is asked once.
unsigned with_modules() {
  static const unsigned bits = [] {
    unsigned all = 0;
    for (int i = 0; i < kRuntimes; ++i) all |= has_module(runtime(i)) ? 1u << i : 0;
    return all;
  }();
  return bits;
}

}  // namespace

void* DeviceRuntime::symbol(void* library, const char* name) { return dlsym(library, name); }

std::span<DeviceRuntime* const> find_runtimes() {
  if (expected.load(std::memory_order_relaxed) != 0) look();
  return {found, number_found.load(std::memory_order_acquire)};
}

bool machine_has_devices() { return with_modules() != 0; }

void expect_runtimes(bool any_may_come) {
  look();
  const std::lock_guard<std::mutex> lock(finding);
  const unsigned may_come = any_may_come ? kAll : with_modules();
  expected.store(may_come & ~known, std::memory_order_relaxed);
}

bool is_unknown_runtime_loaded() {
  look();
  return unknown_runtime.load(std::memory_order_relaxed);
}

}  // namespace sumac

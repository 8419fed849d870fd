// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/openmp.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace sumac {
namespace {

constexpr int kMost = 8;
// Entries are written with the lock held. They are only added, so readers need no lock.
OpenMp found[kMost];
std::atomic<int> num_found{0};
// This is the number of objects ever loaded, as of the last search.
std::atomic<unsigned long long> seen_loaded{0};
std::mutex mutex;

int read_loaded(dl_phdr_info* info, std::size_t, void* loaded) {
  *static_cast<unsigned long long*>(loaded) = info->dlpi_adds;
  return 1;  // dl_iterate_phdr tells the same number for every object
}

int add_name(dl_phdr_info* info, std::size_t, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(info->dlpi_name);
  return 0;
}

// Returns true if one object defines both. A library of stubs for serial programs has only some of
// the functions.
bool of_one_object(void* a, void* b) {
  Dl_info first{}, second{};
  return dladdr(a, &first) && dladdr(b, &second) && first.dli_fbase == second.dli_fbase;
}

// Keeps the object that defines the function loaded until the process ends.
void keep_object_of(void* function) {
  Dl_info info{};
  if (dladdr(function, &info)) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

template <class Function>
bool resolve(void* object, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(object, name));
  return function != nullptr;
}

void resolve_all_threads(void* object, OpenMp& openmp) {
  if (!resolve(object, "__kmpc_global_num_threads", openmp.all_threads)) return;
  const bool same = of_one_object(reinterpret_cast<void*>(openmp.in_parallel),
                                  reinterpret_cast<void*>(openmp.all_threads));
  if (!same) openmp.all_threads = nullptr;
}

bool read_functions(void* object, OpenMp& openmp) {
  return resolve(object, "omp_in_parallel", openmp.in_parallel) &&
         resolve(object, "GOMP_parallel", openmp.parallel) &&
         resolve(object, "GOMP_task", openmp.task) &&
         resolve(object, "omp_get_max_threads", openmp.max_threads) &&
         resolve(object, "omp_get_num_threads", openmp.num_threads) &&
         resolve(object, "omp_get_num_procs", openmp.num_procs) &&
         of_one_object(reinterpret_cast<void*>(openmp.in_parallel),
                       reinterpret_cast<void*>(openmp.parallel));
}

// Looks for the functions in the object, or, as dlsym does, in one that it depends on.
void look_into(const std::string& name) {
  const char* const path = name.empty() ? nullptr : name.c_str();  // no name: the program
  void* const object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!object) return;
  OpenMp openmp;
  if (read_functions(object, openmp)) {
    const int known = num_found.load(std::memory_order_relaxed);
    const bool is_new = std::none_of(found, found + known, [&](const OpenMp& other) {
      return other.in_parallel == openmp.in_parallel;
    });
    if (is_new && known < kMost) {
      resolve_all_threads(object, openmp);
      keep_object_of(reinterpret_cast<void*>(openmp.in_parallel));
      found[known] = openmp;
      num_found.store(known + 1, std::memory_order_release);
    }
  }
  dlclose(object);
}

}  // namespace

std::span<const OpenMp> find_openmp() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(read_loaded, &loaded);
  if (loaded != seen_loaded.load(std::memory_order_acquire)) {
    // The names are collected first: the loader's functions must not be called from within
    // dl_iterate_phdr, which takes its locks in another order.
    std::vector<std::string> names;
    dl_iterate_phdr(add_name, &names);
    const std::lock_guard<std::mutex> hold(mutex);
    for (const std::string& name : names) look_into(name);
    seen_loaded.store(loaded, std::memory_order_release);
  }
  return {found, static_cast<std::size_t>(num_found.load(std::memory_order_acquire))};
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/threads.h"

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
std::mutex searching;

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
    const std::lock_guard<std::mutex> hold(searching);
    for (const std::string& name : names) look_into(name);
    seen_loaded.store(loaded, std::memory_order_release);
  }
  return {found, static_cast<std::size_t>(num_found.load(std::memory_order_acquire))};
}

namespace {

std::mutex mutex;  // protects the next two variables
ThreadSettings settings;
ProcessorRoom room;

std::atomic<int> at_work{0};  // threads reserved by all Threads

// This is a flag of GCC's task interface: without it the priority is ignored.
constexpr unsigned kHasPriority = 16;

// Returns the number of threads that settings and processors allow. A number set by the user
// overrides the share left by other ranks, but not the number of processors. The thread that opens
// a region may be bound to one processor, so the run-time library is asked too.
int most_threads(const OpenMp& openmp) {
  const int known = openmp.num_procs();
  const std::lock_guard<std::mutex> hold(mutex);
  const int processors = std::max(room.processors, known);
  if (settings.most > 0) {
    const int most = std::min(settings.most, processors);
    return room.quota > 0 ? std::min(most, room.quota) : most;
  }
  constexpr double kRounding = 1e-6;
  const int most = static_cast<int>(room.share * processors + kRounding);
  return room.quota > 0 ? std::min(most, room.quota / std::max(1, room.ranks)) : most;
}

int task_priority() {
  const std::lock_guard<std::mutex> hold(mutex);
  return settings.priority;
}

bool may_open_regions() {
  const std::lock_guard<std::mutex> hold(mutex);
  return settings.own_regions;
}

// Reserves up to `wanted` threads, as long as at most `most` are reserved in the process; at least
// one, the caller's own.
int keep_threads(int wanted, int most) {
  int now = at_work.load(std::memory_order_relaxed);
  int kept;
  do {
    kept = std::max(1, std::min(wanted, most - now));
  } while (!at_work.compare_exchange_weak(now, now + kept, std::memory_order_relaxed));
  return kept;
}

void accept(void* invitation) { Pieces::help(*static_cast<Pieces::Invitation*>(invitation)); }

}  // namespace

void set_threads(const ThreadSettings& wanted) {
  const std::lock_guard<std::mutex> hold(mutex);
  settings = wanted;
  threads_min_bytes.store(wanted.most == 1 ? SIZE_MAX : wanted.min_bytes,
                          std::memory_order_relaxed);
}

void set_processor_room(const ProcessorRoom& told) {
  const std::lock_guard<std::mutex> hold(mutex);
  if (told.known >= room.known) room = told;
}

ProcessorRoom processor_room() {
  const std::lock_guard<std::mutex> hold(mutex);
  return room;
}

Threads::Threads(std::span<const OpenMp> openmps) {
  int most = 1;
  const int wanted = UseThreads::may() ? choose(openmps, most) : 1;
  count_ = keep_threads(wanted, most);
  if (wanted > 1 && count_ == 1) use_ = ThreadUse::busy;
}

Threads::~Threads() { at_work.fetch_sub(count_, std::memory_order_relaxed); }

int Threads::choose(std::span<const OpenMp> openmps, int& most) {
  use_ = ThreadUse::no_openmp;
  if (openmps.empty()) return 1;
  openmp_ = &openmps[0];
  const auto inner = std::find_if(openmps.begin(), openmps.end(), in_region);
  const bool inside = inner != openmps.end();
  if (inside) openmp_ = &*inner;
  if (!inside && !may_open_regions()) {
    use_ = ThreadUse::outside;
    return 1;
  }
  const int threads = inside ? openmp_->num_threads() : openmp_->max_threads();
  if (threads > 1) most = most_threads(*openmp_);
  const int wanted = std::min(threads, most);
  use_ = wanted < 2 ? ThreadUse::one_thread : inside ? ThreadUse::tasks : ThreadUse::region;
  return wanted;
}

void Threads::run(const PieceWork& work) const {
  Pieces* const pieces = count_ > 1 && work.pieces <= Pieces::kMost ? Pieces::open(work) : nullptr;
  if (!pieces) {
    for (std::size_t piece = 0; piece < work.pieces; ++piece) work.run(work.data, piece);
    return;
  }
  Pieces::Invitation invitation = pieces->invite();
  if (use_ == ThreadUse::tasks) {
    const int priority = task_priority();
    for (int other = 1; other < count_; ++other) {
      openmp_->task(accept, &invitation, nullptr, sizeof invitation, alignof(Pieces::Invitation),
                    true, priority > 0 ? kHasPriority : 0, nullptr, priority, nullptr);
    }
    Pieces::help(invitation);
  } else {
    openmp_->parallel(accept, &invitation, static_cast<unsigned>(count_), 0);
  }
  pieces->wait();
  pieces->close();
}

}  // namespace sumac

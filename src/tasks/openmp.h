// SPDX-License-Identifier: BSD-3-Clause
// OpenMP run-time libraries of the process, found when they are wanted and never linked: a program
// may bring its own at any time, or several, and one that has none must not get one from Sumac.
// libgomp, libomp and libiomp5 all have these functions, with GCC's calling conventions.
#pragma once

#include <span>

namespace sumac {

struct OpenMp {
  int (*in_parallel)();  // whether the calling thread is in an active region
  int (*max_threads)();
  int (*num_threads)();  // of the innermost region
  int (*num_procs)();    // of the process, even where the calling thread is bound to one
  // Runs body(data) in a region of at most `threads`, the caller among them, and waits for its end.
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  // Copies `size` bytes of data and runs body on them, now or later, in any thread of the region.
  void (*task)(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long align,
               bool deferrable, unsigned flags, void** depend, int priority, void* detach);
  // Of libomp and libiomp5: threads that it knows of, 0 before its first use; null where there is
  // no such function.
  int (*all_threads)(const void* location) = nullptr;
};

// Whether the calling thread is in an active region. Does not make a library read its environment
// that the program has not used yet, as in_parallel() of libomp does: the program may still set it.
inline bool in_region(const OpenMp& openmp) {
  if (openmp.all_threads && openmp.all_threads(nullptr) < 2) return false;
  return openmp.in_parallel();
}

// Each once, in the order in which objects were loaded: where several are in the process, the
// program's own comes first. One that was found stays in the process. Looks again only when objects
// have been loaded meanwhile. Any thread may call.
std::span<const OpenMp> find_openmp();

}  // namespace sumac

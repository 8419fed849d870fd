// SPDX-License-Identifier: BSD-3-Clause
// Sumac finds the OpenMP run-time libraries of the process when it needs them and never links one:
// a program may bring its own at any time, or several, and one that has none must not get one from
// Sumac. libgomp, libomp and libiomp5 all have these functions, with GCC's calling conventions.
#pragma once

#include <span>

namespace sumac {

struct OpenMp {
  int (*in_parallel)();  // nonzero if the calling thread is in an active region
  int (*max_threads)();
  int (*num_threads)();  // threads of the innermost region
  int (*num_procs)();    // processors of the process, even if the thread is bound to one
  // Runs body(data) in a region of at most `threads` threads, the caller among them, and waits for
  // the region's end.
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);
  // Copies `size` bytes of data and runs body on the copy, now or later, in any thread of the
  // region.
  void (*task)(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long align,
               bool deferrable, unsigned flags, void** depend, int priority, void* detach);
  // Only libomp and libiomp5 have this function; it is null for others. It returns the number of
  // threads that the library knows of, 0 before its first use.
  int (*all_threads)(const void* location) = nullptr;
};

// Returns true if the calling thread is in an active region. It does not initialise a library that
// the program has not used yet, as in_parallel() of libomp would: the library reads its environment
// then, and the program may still be about to set it.
inline bool in_region(const OpenMp& openmp) {
  if (openmp.all_threads && openmp.all_threads(nullptr) < 2) return false;
  return openmp.in_parallel();
}

// Returns the OpenMP run-time libraries of the process, each once, in the order in which the
// objects were loaded, so that the program's own comes first if there are several. A library that
// was found is never unloaded. Searches again only if objects have been loaded since the last call.
// Thread-safe.
std::span<const OpenMp> find_openmp();

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Promotion depends on what it finds in a process: things that forbid it for any memory, and what
// the kernel can do.
#pragma once

#include "promotion/refusals.h"

namespace sumac::promotion {

// These are open in a process.
struct OpenDescriptors {
  // A device whose driver may have pinned pages of the program's memory (network adapters, GPUs),
  // or an io_uring, whose registered buffers are pinned: these would go on using the pages that
  // promotion replaces.
  bool devices = false;
  // A userfaultfd: the program answers page faults itself. Peers, who read and write without any
  // fault of this process, must not reach into its memory.
  bool faults = false;
};
// Looks at all descriptors, which costs about a microsecond for each. Makes system calls only.
OpenDescriptors open_descriptors();

// Returns true if valgrind or a sanitizer runs the program: they keep books of its memory.
bool memory_tool_present();

// Newer kernels can do these things. Promotion works without any of them, at a price that is stated
// where it is used.
struct KernelFeatures {
  bool queries = false;    // PROCMAP_QUERY: asks for one mapping (Linux 6.11)
  bool collapses = false;  // MADV_COLLAPSE: makes shared memory's pages huge (6.1)
  bool populates = false;  // MADV_POPULATE_WRITE: makes pages exist, or returns an error (5.14)

  KernelFeatures without(const KernelFeatures& other) const;
};

// Returns what the kernel that this process runs on can do.
KernelFeatures kernel_here();

}  // namespace sumac::promotion

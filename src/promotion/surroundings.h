// SPDX-License-Identifier: BSD-3-Clause
// Promotion depends on what it finds in a process: things that forbid it for any memory, and what
// the kernel can do.
#pragma once

#include "promotion/refusals.h"

namespace sumac::promotion {

// Returns true if the process has a device open whose driver may have pinned pages of the program's
// memory (network adapters, GPUs), or an io_uring, whose registered buffers are pinned: these would
// go on using the pages that promotion replaces. Also returns true for a userfaultfd. It costs some
// microseconds for each descriptor.
bool device_open();

// Returns true if valgrind or a sanitizer runs the program: they keep books of its memory.
bool memory_tool_present();

// Newer kernels can do these things. Promotion works without any of them, at a price that is stated
// where it is used.
struct KernelFeatures {
  bool queries = false;    // PROCMAP_QUERY: asks for one mapping (Linux 6.11)
  bool scans = false;      // PAGEMAP_SCAN: finds huge pages (6.7)
  bool collapses = false;  // MADV_COLLAPSE: makes shared memory's pages huge (6.1)
  bool populates = false;  // MADV_POPULATE_WRITE: makes pages exist, or returns an error (5.14)

  KernelFeatures without(const KernelFeatures& other) const;
};

// Returns what the kernel that this process runs on can do.
KernelFeatures kernel_here();

}  // namespace sumac::promotion

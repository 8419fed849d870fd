// SPDX-License-Identifier: BSD-3-Clause
// Newer kernels can do these things. Promotion works without any of them, at a price that is stated
// where it is used.
#pragma once

namespace sumac::promotion {

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

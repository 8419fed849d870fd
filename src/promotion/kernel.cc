// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/kernel.h"

#include <sys/mman.h>

#include "promotion/page_state.h"
#include "promotion/process_maps.h"

namespace sumac::promotion {
namespace {

// Gives advice about no bytes, which is an error if the kernel does not know it.
bool knows_advice(int advice) {
  alignas(kPage) static char page[kPage];
  return madvise(page, 0, advice) == 0;
}

}  // namespace

KernelFeatures KernelFeatures::without(const KernelFeatures& other) const {
  return {queries && !other.queries, scans && !other.scans, collapses && !other.collapses,
          populates && !other.populates};
}

KernelFeatures kernel_here() {
  return {ProcessMaps::can_query(), can_scan_pages(), knows_advice(kCollapse),
          knows_advice(kPopulateWrite)};
}

}  // namespace sumac::promotion

// SPDX-License-Identifier: BSD-3-Clause
// What in a process forbids to promote any of its memory.
#pragma once

#include "promotion/refusals.h"

namespace sumac::promotion {

// Whether the process has a device open whose driver may have pinned pages of the program's memory
// (network adapters, GPUs), or an io_uring, whose registered buffers are pinned: these would go on
// using the pages that promotion replaces. Or a userfaultfd. Costs some microseconds a descriptor.
bool device_open();

// Whether valgrind or a sanitizer runs the program: they keep books of its memory.
bool memory_tool_present();

}  // namespace sumac::promotion

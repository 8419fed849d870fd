// SPDX-License-Identifier: BSD-3-Clause
// Some things in a process forbid the promotion of any of its memory.
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

}  // namespace sumac::promotion

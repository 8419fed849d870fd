// SPDX-License-Identifier: BSD-3-Clause
// The run-times are found among the libraries that the process has loaded, and their functions by
// names: nothing of a vendor's is needed to build Sumac, and nothing is loaded.
#pragma once

#include <atomic>
#include <span>

#include "devices/runtime.h"

namespace sumac {

// Returns the run-times that have been found, which stay. Looks again if one may come and objects
// were loaded since the last look.
std::span<DeviceRuntime* const> find_runtimes();

// Returns true if the kernel has a module for the devices of some run-time.
bool machine_has_devices();

// Must be called when a run-time may have been loaded. From now on each find_runtimes() notices
// those that are loaded later: if `any_may_come` all, else those whose module the kernel has.
void expect_runtimes(bool any_may_come);

// Returns true if a run-time is loaded that lacks functions: its memory cannot be told from the
// host's.
bool is_unknown_runtime_loaded();

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The options of this process, read once, when its first MPI call starts the back end.
#pragma once

namespace sumac {

// Fills `options` and applies what the whole process shares. One rule for every bad value: the
// default is used, and the job is warned once. The warnings are kept until this process's rank is
// known (observe/log.h).
void read_settings();

}  // namespace sumac

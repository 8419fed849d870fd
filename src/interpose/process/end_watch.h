// SPDX-License-Identifier: BSD-3-Clause
// Tells that there are no statistics, where SUMAC_STATS prints them and the process ends in a way
// that nothing in it can see: by _exit(), abort() or a signal. A small shell waits until this
// process has let go of a pipe.
#pragma once

namespace sumac {

// On the rank that prints.
void watch_end(int rank);
// The statistics have been printed.
void end_is_told();

}  // namespace sumac

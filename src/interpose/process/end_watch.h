// SPDX-License-Identifier: BSD-3-Clause
// Tells that there are no statistics if SUMAC_STATS prints them and the process ends in a way that
// nothing in it can see: by _exit(), abort() or a signal. A small shell waits until this process
// has let go of a pipe.
#pragma once

namespace sumac {

// Must be called on the rank that prints.
void watch_end(int rank);
// Must be called when the statistics have been printed.
void end_is_told();

}  // namespace sumac

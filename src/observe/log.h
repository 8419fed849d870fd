// SPDX-License-Identifier: BSD-3-Clause
// Messages of the preloaded library: to standard error, one write each, never to standard output.
#pragma once

namespace sumac {

enum class Level { off, warn, info, trace };  // as SUMAC_DEBUG

// What is written from now on. `rank` is this process's rank in the job, or -1 when unknown.
void set_log(Level level, int rank);
bool logs(Level level);

// One line, "sumac: " in front. Warnings come from rank 0 only, at most 32 in a process, so that a
// job does not drown in them.
void log(Level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// As a warning, whatever the rank: for what only this rank can know.
void log_here(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace sumac

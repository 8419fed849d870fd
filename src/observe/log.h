// SPDX-License-Identifier: BSD-3-Clause
// Messages of the preloaded library: one write each, to standard error, never to standard output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sumac {

enum class Level { off, warn, info, trace };  // as SUMAC_DEBUG

// Sets what is written from now on. `rank` is this process's rank in the job, or -1 while it is not
// known; warnings are then kept. Once it is known, rank 0 writes those it has kept; the other ranks
// keep theirs until it is known which of them rank 0 did not have (team/warnings.h).
void set_log(Level level, int rank);
bool logs(Level level);
int log_rank();

// Writes one line that begins with "sumac: ". Everything but traces comes from rank 0 only, and at
// most 64 warnings from a process, so that a job does not drown in them.
void log(Level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Writes a warning from any rank, for what only this rank can know.
void log_here(const char* format, ...) __attribute__((format(printf, 1, 2)));

// The warnings kept, without "sumac: " and without the end of the line. Rank 0's are those it has
// written.
inline constexpr std::size_t kMostKept = 64;
const std::vector<std::string>& kept_warnings();
void forget_kept_warnings();

}  // namespace sumac

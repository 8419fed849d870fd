// SPDX-License-Identifier: BSD-3-Clause
// The preloaded library writes its messages to standard error by one write each, never to standard
// output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sumac {

enum class Level { off, warn, info, trace };  // the values of SUMAC_DEBUG

// Sets what is written from now on. `rank` is this process's rank in the job, or -1 while that is
// unknown; warnings are then kept. Once the rank is known, rank 0 writes the warnings it has kept;
// the other ranks keep theirs until it is known which of them rank 0 did not have
// (team/warnings.h).
void set_log(Level level, int rank);
bool logs(Level level);
int log_rank();

// Writes one line that begins with "sumac: ". Everything but traces comes from rank 0 only, and at
// most 64 warnings from a process, so that a job does not drown in them.
void log(Level level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Writes a warning from any rank, about something that only this rank can know.
void log_here(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Writes a warning of several lines by one write, so that those of other ranks do not come between.
void log_here_in_lines(const std::vector<std::string>& lines);

// Writes an error from any rank, mostly why it ends the job, whatever SUMAC_DEBUG says.
void log_error(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Returns the warnings kept, without "sumac: " and without the end of the line. On rank 0 they are
// those that it has written.
inline constexpr std::size_t kMostKept = 64;
const std::vector<std::string>& kept_warnings();
void forget_kept_warnings();

}  // namespace sumac

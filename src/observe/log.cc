// SPDX-License-Identifier: BSD-3-Clause
#include "observe/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace sumac {
namespace {

constexpr int kMostWarnings = 32;
std::atomic<Level> current_level{Level::warn};
std::atomic<int> own_rank{-1};
std::atomic<int> warnings{0};

void write_line(const char* format, va_list arguments) {
  char line[1024];
  int used = std::snprintf(line, sizeof line, "sumac: ");
  used += std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used) - 1, format,
                         arguments);
  used = std::min(used, static_cast<int>(sizeof line) - 2);
  line[used++] = '\n';
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(used)) < 0) return;  // nowhere to say it
}

}  // namespace

void set_log(Level level, int rank) {
  current_level = level;
  own_rank = rank;
}

bool logs(Level level) { return level <= current_level.load(std::memory_order_relaxed); }

void log(Level level, const char* format, ...) {
  if (!logs(level)) return;
  if (level == Level::warn && (own_rank > 0 || warnings.fetch_add(1) >= kMostWarnings)) return;
  if (level == Level::info && own_rank > 0) return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

void log_here(const char* format, ...) {
  if (!logs(Level::warn) || warnings.fetch_add(1) >= kMostWarnings) return;
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

}  // namespace sumac

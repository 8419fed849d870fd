// SPDX-License-Identifier: BSD-3-Clause
#include "observe/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace sumac {
namespace {

constexpr int kMostWarnings = 32;
std::atomic<Level> current_level{Level::warn};
std::atomic<int> own_rank{-1};
std::atomic<int> warnings{0};

// Warnings kept. Used by the thread that starts Sumac, and later by one that sets up a
// communicator.
std::vector<std::string>& kept() {
  static auto* lines = new std::vector<std::string>;
  return *lines;
}

using Line = char[1024];

void compose(Line& line, const char* format, va_list arguments) {
  int used = std::snprintf(line, sizeof line, "sumac: ");
  used += std::vsnprintf(line + used, sizeof line - static_cast<std::size_t>(used) - 1, format,
                         arguments);
  used = std::min(used, static_cast<int>(sizeof line) - 2);
  line[used++] = '\n';
  line[used] = '\0';
}

void write_line(const Line& line, Level level = Level::warn) {
  if (level == Level::warn && warnings.fetch_add(1) >= kMostWarnings) return;
  if (write(STDERR_FILENO, line, std::strlen(line)) < 0) return;  // nowhere to say it
}

void keep(const Line& line) {
  const std::string text(line + sizeof "sumac: " - 1, std::strlen(line) - sizeof "sumac: ");
  if (kept().size() < kMostKept) kept().push_back(text);
}

}  // namespace

void set_log(Level level, int rank) {
  const bool first = rank == 0 && own_rank.load() < 0;
  current_level = level;
  own_rank = rank;
  if (!first || !logs(Level::warn)) return;
  for (const std::string& line : kept()) log_here("%s", line.c_str());
}

bool logs(Level level) { return level <= current_level.load(std::memory_order_relaxed); }

int log_rank() { return own_rank; }

void log(Level level, const char* format, ...) {
  const bool keeps = level == Level::warn && own_rank < 0;  // SUMAC_DEBUG may not be known either
  if (!keeps && (!logs(level) || (own_rank > 0 && level != Level::trace))) return;
  Line line;
  va_list arguments;
  va_start(arguments, format);
  compose(line, format, arguments);
  va_end(arguments);
  keeps ? keep(line) : write_line(line, level);
}

void log_here(const char* format, ...) {
  if (!logs(Level::warn)) return;
  Line line;
  va_list arguments;
  va_start(arguments, format);
  compose(line, format, arguments);
  va_end(arguments);
  write_line(line);
}

const std::vector<std::string>& kept_warnings() { return kept(); }

void forget_kept_warnings() { kept().clear(); }

}  // namespace sumac

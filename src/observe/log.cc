// SPDX-License-Identifier: BSD-3-Clause
#include "observe/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdarg>

#include "base/message.h"
#include "observe/rank_file.h"

namespace sumac {
namespace {

constexpr int kMostWarnings = 64;
std::atomic<Level> current_level{Level::warn};
std::atomic<int> own_rank{-1};
std::atomic<int> warnings{0};

// These warnings are kept. The thread that starts Sumac uses them, and later one that sets up a
// communicator.
std::vector<std::string>& kept() {
  static auto* lines = new std::vector<std::string>;
  return *lines;
}

sumac_line composed(const char* format, va_list arguments) {
  sumac_line line;
  sumac_compose_line(&line, "", format, arguments);
  return line;
}

void write_line(const sumac_line& line, Level level = Level::warn) {
  if (level != Level::warn || warnings.fetch_add(1) < kMostWarnings) sumac_write_line(&line);
}

void keep(const sumac_line& line) {
  const std::string text(line.text + sizeof "sumac: " - 1, line.length - sizeof "sumac: ");
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
  va_list arguments;
  va_start(arguments, format);
  const sumac_line line = composed(format, arguments);
  va_end(arguments);
  keeps ? keep(line) : write_line(line, level);
}

void log_here(const char* format, ...) {
  if (!logs(Level::warn)) return;
  va_list arguments;
  va_start(arguments, format);
  write_line(composed(format, arguments));
  va_end(arguments);
}

void log_here_in_lines(const std::vector<std::string>& lines) {
  if (!logs(Level::warn) || warnings.fetch_add(1) >= kMostWarnings) return;
  std::string text;
  for (const std::string& line : lines) text += "sumac: " + line + "\n";
  write_all(STDERR_FILENO, text.data(), text.size());
}

void log_error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(composed(format, arguments), Level::off);
  va_end(arguments);
}

const std::vector<std::string>& kept_warnings() { return kept(); }

void forget_kept_warnings() { kept().clear(); }

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/report.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "interpose/backend/process.h"
#include "planner/plan.h"

namespace sumac {
namespace {

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

// Calls visit(path, taken, count) for every path of the collective that was gone.
template <class Visit>
void for_each_path(const Stats& stats, Collective collective, Visit visit) {
  for (int a = 0; a < kNumAlgorithms; ++a) {
    const AlgorithmInfo& info = info_of(static_cast<Algorithm>(a));
    if (info.collective == collective && stats.taken[a].calls) {
      visit(info.name, true, stats.taken[a]);
    }
  }
  const PathCount& local = stats.local[static_cast<int>(collective)];
  if (local.calls) visit(kLocal, true, local);
  for (int r = 0; r < kNumReasons; ++r) {
    const PathCount& count = stats.handed[static_cast<int>(collective)][r];
    if (count.calls) visit(text_of(static_cast<Reason>(r)), false, count);
  }
}

std::string table(const Stats& stats, int rank, int size) {
  std::string text;
  append(text, "sumac summary  rank %d of %d\n", rank, size);
  append(text, "  %-13s %12s %12s  %s\n", "collective", "calls", "mean bytes", "path");
  for (int c = 0; c < kNumCollectives; ++c) {
    for_each_path(stats, static_cast<Collective>(c),
                  [&](const char* path, bool, const PathCount& count) {
                    append(text, "  %-13s %12llu %12llu  %s\n", name_of(static_cast<Collective>(c)),
                           static_cast<unsigned long long>(count.calls),
                           static_cast<unsigned long long>(count.bytes / count.calls), path);
                  });
  }
  for (int u = 0; u < kNumThreadUses; ++u) {
    if (stats.threads[u]) {
      append(text, "  %-13s %12llu %12s  %s\n", "large folds",
             static_cast<unsigned long long>(stats.threads[u]), "", kThreadUseTexts[u].text);
    }
  }
  return text;
}

}  // namespace

void print_report(const Stats& stats, int rank, int size) {
  const std::string text = table(stats, rank, size);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool write_report(const char* path, const Stats& stats, int rank, int size) {
  std::string text;
  append(text, "{\"rank\": %d, \"ranks\": %d, \"paths\": [", rank, size);
  const char* separator = "";
  for (int c = 0; c < kNumCollectives; ++c) {
    for_each_path(stats, static_cast<Collective>(c),
                  [&](const char* name, bool taken, const PathCount& count) {
                    append(text,
                           "%s\n  {\"collective\": \"%s\", \"path\": \"%s\", \"taken\": %s, "
                           "\"calls\": %llu, \"bytes\": %llu}",
                           separator, name_of(static_cast<Collective>(c)), name,
                           taken ? "true" : "false", static_cast<unsigned long long>(count.calls),
                           static_cast<unsigned long long>(count.bytes));
                    separator = ",";
                  });
  }
  text += "\n], \"large_folds\": {";
  for (int u = 0; u < kNumThreadUses; ++u) {
    append(text, "%s\"%s\": %llu", u ? ", " : "", kThreadUseTexts[u].name,
           static_cast<unsigned long long>(stats.threads[u]));
  }
  text += "}}\n";
  std::FILE* file = std::fopen(path, "we");
  if (!file) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace sumac

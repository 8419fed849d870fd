// SPDX-License-Identifier: BSD-3-Clause
#include "observe/report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/c_locale.h"
#include "base/use_counts.h"

namespace sumac {
namespace {

__attribute__((format(printf, 2, 3))) void append(std::string& text, const char* format, ...) {
  char line[512];
  const InCLocale in_c_locale;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

// Shows a time as "812 ns", "26.2 us" or "1.25 s".
std::string shown_time(double ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  int unit = 0;
  for (; unit < 3 && ns >= 999.5; ++unit) ns /= 1000;
  char text[32];
  const InCLocale in_c_locale;
  const int digits = ns >= 99.95 || unit == 0 ? 0 : ns >= 9.995 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f %s", digits, ns, kUnits[unit]);
  return text;
}

unsigned long long ull(std::uint64_t number) { return number; }

// The least and the most that any rank has on one path.
struct LeastAndMost {
  std::uint64_t least = UINT64_MAX, most = 0;
  int least_rank = 0, most_rank = 0;

  void add(std::uint64_t value, int rank) {
    if (value < least) {
      least = value;
      least_rank = rank;
    }
    if (value > most || rank == 0) {
      most = value;
      most_rank = rank;
    }
  }
};

std::string shown_calls(const LeastAndMost& calls) {
  if (calls.least == calls.most) return std::to_string(calls.most);
  return std::to_string(calls.least) + " to " + std::to_string(calls.most);
}

std::string shown_time_of(std::uint64_t ns, int rank) {
  return shown_time(static_cast<double>(ns)) + " (" + std::to_string(rank) + ")";
}

// Appends a line for each counter that is not zero.
void append_uses(std::string& text, const char* what, const char* prefix, const UseText* texts,
                 const std::uint64_t* counts, int number) {
  for (int i = 0; i < number; ++i) {
    if (!counts[i]) continue;
    append(text, "  %-12s %12llu  %s%s\n", what, ull(counts[i]), prefix, texts[i].text);
  }
}

void append_all_uses(std::string& text, const Stats& stats) {
  append_uses(text, "large folds", "", kThreadUseTexts, stats.threads, kNumThreadUses);
  append_uses(text, "messages", "", kMessageUseTexts, stats.messages, kNumMessageUses);
  append_uses(text, "devices", "", kDeviceUseTexts, stats.devices, kNumDeviceUses);
  append_uses(text, "checks", "", kCheckUseTexts, stats.checks, kNumCheckUses);
  append_uses(text, "memory", "", kMemoryUseTexts, stats.memory, kNumMemoryUses);
  append_uses(text, "memory", "not promoted: ", kRefusalTexts, stats.refusals, kNumRefusals);
  append_uses(text, "slower", "", kObstacleTexts, stats.obstacles, kNumObstacles);
}

// Appends a line for each class of calls that goes another way than the rules choose.
void append_learnt(std::string& text, const LearntTable& learnt) {
  for (int i = 0; i < learnt.count; ++i) {
    const Learnt& each = learnt.all[i];
    append(text, "  %-12s %10d %%  %s from %llu bytes, %d ranks: %s, not %s\n", "learnt",
           each.gain_percent(), name_of(each.collective), ull(each.bytes), each.ranks,
           way_name(each.now), way_name(each.first));
  }
}

void append_learnt_json(std::string& text, const LearntTable& learnt) {
  for (int i = 0; i < learnt.count; ++i) {
    const Learnt& each = learnt.all[i];
    append(text,
           "%s\n  {\"collective\": \"%s\", \"bytes\": %llu, \"ranks\": %d, \"algorithm\": "
           "\"%s\", \"first\": \"%s\", \"gain_percent\": %d}",
           i > 0 ? "," : "", name_of(each.collective), ull(each.bytes), each.ranks,
           name_of(each.now), name_of(each.first), each.gain_percent());
  }
}

void append_counts(std::string& text, const UseText* texts, const std::uint64_t* counts,
                   int number) {
  for (int i = 0; i < number; ++i) {
    append(text, "%s\"%s\": %llu", i ? ", " : "", texts[i].name, ull(counts[i]));
  }
}

// Sums up all ranks, so that the result has every path that any rank has gone.
std::unique_ptr<const RankReport> sum_of(const std::vector<RankReport>& reports) {
  auto sum = std::make_unique<RankReport>();
  for (const RankReport& report : reports) {
    sum->stats.merge(report.stats);
    sum->counted.merge(report.counted);
    sum->learnt.merge(report.learnt);
  }
  return sum;
}

// Calls visit(name of the collective, path) for every path that was gone, also those of the
// collectives that are only counted.
template <class Visit>
void for_each_row(const RankReport& report, Visit visit) {
  for (const CollectiveInfo& info : kCollectives) {
    for_each_path(report, info.collective, [&](const Path& path) { visit(info.name, path); });
  }
  for (int c = 0; c < kNumCounted; ++c) {
    const PathCount& count = report.counted.calls[c];
    if (count.calls)
      visit(kCountedNames[c],
            Path{0, name_of_path(kCountedPath), false, count, report.counted.ns[c]});
  }
}

// Returns the width of the first column.
int width_of_names(const RankReport& report) {
  std::size_t width = 12;
  for_each_row(report, [&](const char* name, const Path&) {
    width = std::max(width, std::string_view(name).size());
  });
  return static_cast<int>(width);
}

struct Served {
  std::uint64_t calls = 0, all = 0;
};

Served served_of(const RankReport& report) {
  Served served;
  for_each_row(report, [&](const char*, const Path& path) {
    served.all += path.count.calls;
    if (path.taken) served.calls += path.count.calls;
  });
  return served;
}

// Appends "  Sumac served 98 of 100 calls". Returns false if there were no calls.
bool append_served(std::string& text, const RankReport& report, const char* of) {
  const Served served = served_of(report);
  if (served.all == 0) {
    append(text, "  no collective was called%s\n", of);
    return false;
  }
  append(text, "  Sumac served %llu of %llu calls%s\n", ull(served.calls), ull(served.all), of);
  return true;
}

Path path_of(const RankReport& report, const char* name, const Path& wanted) {
  Path found{wanted.number, "", false, {}, 0};
  for_each_row(report, [&](const char* other, const Path& path) {
    if (name == other && path.number == wanted.number) found = path;
  });
  return found;
}

void append_all(std::string& text, const std::vector<RankReport>& reports, int width,
                const char* name, const Path& sum) {
  LeastAndMost calls, ns;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    const Path own = path_of(reports[r], name, sum);
    calls.add(own.count.calls, static_cast<int>(r));
    ns.add(own.ns, static_cast<int>(r));
  }
  append(text, "  %-*s %16s %11llu %16s %16s  %s\n", width, name, shown_calls(calls).c_str(),
         ull(sum.count.bytes / sum.count.calls), shown_time_of(ns.least, ns.least_rank).c_str(),
         shown_time_of(ns.most, ns.most_rank).c_str(), sum.name);
}

void append_rows(std::string& text, const RankReport& report, int width) {
  append(text, "  %-*s %12s %11s %9s %9s  %s\n", width, "collective", "calls", "mean bytes", "time",
         "per call", "path");
  for_each_row(report, [&](const char* name, const Path& path) {
    const auto ns = static_cast<double>(path.ns);
    append(text, "  %-*s %12llu %11llu %9s %9s  %s\n", width, name, ull(path.count.calls),
           ull(path.count.bytes / path.count.calls), shown_time(ns).c_str(),
           shown_time(ns / static_cast<double>(path.count.calls)).c_str(), path.name);
  });
}

void append_rows_of_all(std::string& text, const std::vector<RankReport>& reports,
                        const RankReport& sum, int width) {
  append(text, "  %-*s %16s %11s %16s %16s  %s\n", width, "collective", "calls a rank",
         "mean bytes", "least (rank)", "most time (rank)", "path");
  for_each_row(sum, [&](const char* name, const Path& path) {
    append_all(text, reports, width, name, path);
  });
}

void append_paths(std::string& text, const RankReport& report, const char* indent) {
  const char* separator = "";
  for_each_row(report, [&](const char* name, const Path& path) {
    append(text,
           "%s\n%s{\"collective\": \"%s\", \"path\": \"%s\", \"taken\": %s, \"calls\": %llu, "
           "\"bytes\": %llu, \"seconds\": %.9f}",
           separator, indent, name, path.name, path.taken ? "true" : "false", ull(path.count.calls),
           ull(path.count.bytes), static_cast<double>(path.ns) * 1e-9);
    separator = ",";
  });
}

// Appends the members of one rank's object, without its braces.
void append_report(std::string& text, const RankReport& own) {
  const Served served = served_of(own);
  append(text, "\"served\": %llu, \"calls\": %llu, \"paths\": [", ull(served.calls),
         ull(served.all));
  append_paths(text, own, "  ");
  text += "\n], \"large_folds\": {";
  append_counts(text, kThreadUseTexts, own.stats.threads, kNumThreadUses);
  text += "}, \"messages\": {";
  append_counts(text, kMessageUseTexts, own.stats.messages, kNumMessageUses);
  text += "}, \"devices\": {";
  append_counts(text, kDeviceUseTexts, own.stats.devices, kNumDeviceUses);
  text += "}, \"checks\": {";
  append_counts(text, kCheckUseTexts, own.stats.checks, kNumCheckUses);
  text += "}, \"memory\": {";
  append_counts(text, kMemoryUseTexts, own.stats.memory, kNumMemoryUses);
  text += "}, \"not_promoted\": {";
  append_counts(text, kRefusalTexts, own.stats.refusals, kNumRefusals);
  text += "}, \"slower\": {";
  append_counts(text, kObstacleTexts, own.stats.obstacles, kNumObstacles);
  text += "}, \"learnt\": [";
  append_learnt_json(text, own.learnt);
  text += "]";
}

}  // namespace

void for_each_path(const RankReport& report, Collective collective,
                   const std::function<void(const Path&)>& visit) {
  const int c = static_cast<int>(collective);
  const auto tell = [&](int path, bool taken, const PathCount& count) {
    if (count.calls) visit({path, name_of_path(path), taken, count, report.times.ns[c][path]});
  };
  for (const Algorithm algorithm : kAllAlgorithms) {
    const int path = path_of(algorithm);
    if (info_of(algorithm).collective == collective) tell(path, true, report.stats.taken[path]);
  }
  tell(kLocalPath, true, report.stats.local[c]);
  for (int r = 0; r < kNumReasons; ++r) {
    tell(path_of(static_cast<Reason>(r)), false, report.stats.handed[c][r]);
  }
}

std::string rank_table(const RankReport& report, int rank, int size, const char* end) {
  std::string text;
  const int width = width_of_names(report);
  append(text, "sumac summary  rank %d of %d\n", rank, size);
  if (std::strcmp(end, kEndByFinalize) != 0) {
    append(text, "  %s came before MPI_Finalize\n", end);
  }
  if (append_served(text, report, "")) append_rows(text, report, width);
  append_all_uses(text, report.stats);
  append_learnt(text, report.learnt);
  return text;
}

std::string ranks_table(const std::vector<RankReport>& reports) {
  const auto made = sum_of(reports);
  const RankReport& sum = *made;
  std::string text;
  const int width = width_of_names(sum);
  append(text, "sumac summary  all %zu ranks\n", reports.size());
  if (append_served(text, sum, " of all ranks")) append_rows_of_all(text, reports, sum, width);
  append_all_uses(text, sum.stats);
  append_learnt(text, sum.learnt);
  return text;
}

std::string counts_json(const RankReport& report) {
  std::string text = "{";
  append_report(text, report);
  return text + "}\n";
}

std::string report_json(const RankReport& own, int size, const std::vector<RankReport>& all,
                        const char* end) {
  std::string text;
  append(text, "{\"rank\": 0, \"ranks\": %d, \"end\": \"%s\", ", size, end);
  append_report(text, own);
  if (!all.empty()) {
    text += ", \"all\": [";
    for (std::size_t r = 0; r < all.size(); ++r) {
      append(text, "%s\n  {\"rank\": %zu, \"paths\": [", r ? "," : "", r);
      append_paths(text, all[r], "    ");
      text += "\n  ]}";
    }
    text += "\n]";
  }
  return text + "}\n";
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "json.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "timing.h"

namespace sumac::bench {
namespace {

using Json = nlohmann::ordered_json;

// Nanosecond resolution is all there is.
double rounded(double us) { return static_cast<double>(std::llround(us * 1000)) / 1000; }

Json figures(const Samples& samples) {
  const Figures f = summarize(samples);
  Json by_round = Json::array();
  for (const double us : f.by_round) by_round.push_back(rounded(us));
  return {{"p50", rounded(f.p50)}, {"p99", rounded(f.p99)}, {"mean", rounded(f.mean)},
          {"min", rounded(f.min)}, {"rounds", by_round},    {"iterations", samples.iterations}};
}

}  // namespace

Report::Report(const std::string& file) {
  if (file.empty()) return;
  file_.open(file);
  if (!file_) throw std::runtime_error("cannot write " + file);
}

void Report::line(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
  if (file_.is_open()) file_ << text << std::endl;
}

void Report::header(const Options& options, const World& world, const Presence& sumac,
                    std::size_t sizes) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const int ranks_per_host = (world.ranks + world.hosts - 1) / world.hosts;
  const Json text = {
      {"kind", "header"},
      {"version", SUMAC_BENCH_VERSION},
      {"mpi", library_version()},
      {"family", SUMAC_BENCH_FAMILY},
      {"ranks", world.ranks},
      {"hosts", world.hosts},
      {"cpus", cpus},
      {"oversubscribed", ranks_per_host > cpus},
      {"sumac",
       {{"loaded", sumac.loaded},
        {"active", sumac.active},
        {"version", sumac.version},
        {"description", sumac.description}}},
      {"collective", name_of(options.collective)},
      {"type", name_of(options.type)},
      {"op", name_of(options.op)},
      {"root", options.root},
      {"in_place", options.in_place},
      {"sizes", sizes},
      {"timer_overhead_ns", timer_overhead_ns()},
  };
  line(text.dump());
}

void Report::row(const Row& row) {
  Json text = {{"kind", "size"},
               {"collective", name_of(row.test.collective)},
               {"bytes", row.test.bytes()},
               {"count", row.test.count},
               {"type", name_of(row.test.type)},
               {"op", name_of(row.test.op)},
               {"root", row.test.root},
               {"native", figures(row.native)},
               {"wrong_native", row.wrong_native}};
  wrong_native_ += row.wrong_native;
  if (!row.sumac.us.empty()) {
    text["sumac"] = figures(row.sumac);
    text["algorithm"] = row.algorithm;
    const double own = text["sumac"]["p50"], other = text["native"]["p50"];
    const double speedup = own > 0 && other > 0 ? other / own : 1;
    text["speedup"] = rounded(speedup);
    text["wrong"] = row.wrong_sumac;
    speedups_.push_back(speedup);
    bytes_.push_back(row.test.bytes());
    wrong_ += row.wrong_sumac;
  }
  line(text.dump());
}

void Report::summary() {
  Json text = {{"kind", "summary"}, {"wrong_native", wrong_native_}};
  if (!speedups_.empty()) {
    const auto [low, high] = std::minmax_element(speedups_.begin(), speedups_.end());
    const auto at = [&](auto speedup) {
      return Json{{"speedup", rounded(*speedup)},
                  {"bytes", bytes_[static_cast<std::size_t>(speedup - speedups_.begin())]}};
    };
    text["geomean"] = rounded(geometric_mean(speedups_));
    text["min"] = at(low);
    text["max"] = at(high);
    text["wrong"] = wrong_;
  }
  line(text.dump());
}

}  // namespace sumac::bench

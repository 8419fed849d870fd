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

// Microseconds rounded to the clock's resolution of 1 ns.
double rounded(double us) { return static_cast<double>(std::llround(us * 1000)) / 1000; }

Json times(const Samples& samples) {
  const Figures f = summarize(samples);
  Json by_round = Json::array();
  for (const double us : f.by_round) by_round.push_back(rounded(us));
  return {{"p50", rounded(f.p50)}, {"p99", rounded(f.p99)}, {"mean", rounded(f.mean)},
          {"min", rounded(f.min)}, {"rounds", by_round},    {"iterations", samples.iterations}};
}

Json overlap(const Overlap& figures) {
  return {{"percent", rounded(figures.percent)},
          {"pure", rounded(figures.pure)},
          {"compute", rounded(figures.compute)},
          {"overall", rounded(figures.overall)}};
}

Json figures(const Result& result) {
  Json text = times(result.times.whole);
  if (!result.times.start.us.empty()) text["start"] = rounded(summarize(result.times.start).p50);
  if (result.overlap) {
    text["overlap"] = overlap(result.overlap->plain);
    if (result.overlap->tests) text["overlap"]["tests"] = overlap(*result.overlap->tests);
  }
  return text;
}

// The time of a line in each round, and the number of rounds in which it changed.
Json stamps(const Samples& samples) {
  Json ns = Json::array();
  for (const double line : samples.line_ns) ns.push_back(std::llround(line));
  return {{"ns", ns}, {"dropped", samples.dropped}};
}

const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"blocking", "nonblocking", "persistent"};
  return kNames[static_cast<int>(kind)];
}

// Fields that only some runs have: the computation of the overlap, and substitutes for missing
// calls.
void add_special(Json& header, const Options& options, Kind native_kind,
                 const std::string& sumac_lacks) {
  if (options.overlap)
    header["overlap"] = {{"compute", options.compute == Compute::busy ? "busy" : "idle"},
                         {"tests", options.tests}};
  if (options.with_counts) header["with_counts"] = true;
  if (native_kind != options.kind) header["native_kind"] = name_of(native_kind);
  if (!sumac_lacks.empty()) header["sumac"]["lacks"] = sumac_lacks;
}

Json common_header(const Options& options, const Surroundings& here) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  const int ranks_per_host = (here.ranks + here.hosts - 1) / here.hosts;
  return {
      {"kind", "header"},
      {"version", SUMAC_BENCH_VERSION},
      {"mpi", here.mpi},
      {"family", here.family},
      {"ranks", here.ranks},
      {"hosts", here.hosts},
      {"cpus", cpus},
      {"oversubscribed", ranks_per_host > cpus},
      {"sumac",
       {{"loaded", here.sumac.loaded},
        {"active", here.sumac.active},
        {"version", here.sumac.version},
        {"description", here.sumac.description}}},
      {"collective", options.what()},
  };
}

// Rounded to a tenth of a nanosecond: each is a mean over many calls.
Json mean_times(const Turns& turns) {
  const Figures f = summarize(turns.samples);
  const auto fine = [](double us) { return static_cast<double>(std::llround(us * 1e4)) / 1e4; };
  Json by_round = Json::array();
  for (const double us : f.by_round) by_round.push_back(fine(us));
  return {{"p50", fine(f.p50)},
          {"min", fine(f.min)},
          {"rounds", by_round},
          {"iterations", turns.calls * turns.batches}};
}

// Adds what was measured, and returns the speedup, or 0 where one of the two is missing.
double add_results(const Cell& cell, Json& text) {
  text["asked"] = cell.asked;
  text["bytes"] = cell.bytes;
  text["memcpy"] = mean_times(cell.memcpy);
  text["wrong_native"] = cell.wrong_native;
  if (cell.native) text["native"] = mean_times(*cell.native);
  if (cell.loop) text["loop"] = mean_times(*cell.loop);
  if (!cell.sumac) return 0;
  text["sumac"] = mean_times(*cell.sumac);
  text["algorithm"] = cell.algorithm;
  text["wrong"] = cell.wrong_sumac;
  if (!cell.native) return 0;
  const double speedup = double(text["native"]["p50"]) / double(text["sumac"]["p50"]);
  text["speedup"] = rounded(speedup);
  return speedup;
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

void Report::header(const Options& options, const Surroundings& here, Kind native_kind,
                    const std::string& sumac_lacks, std::size_t sizes) {
  Json text = common_header(options, here);
  text["type"] = name_of(options.type);
  text["op"] = name_of(options.op);
  text["root"] = options.root;
  text["in_place"] = options.in_place;
  text["sizes"] = sizes;
  text["timer_overhead_ns"] = timer_overhead_ns();
  line_ns_ = here.line_ns;
  if (line_ns_ > 0) text["line_ns"] = std::llround(line_ns_);
  text["set_up_us"] = {std::llround(here.set_up.first), std::llround(here.set_up.next)};
  add_special(text, options, native_kind, sumac_lacks);
  line(text.dump());
}

void Report::local_header(const Options& options, const Surroundings& here,
                          const std::vector<DType>& lacking, std::size_t cells) {
  Json text = common_header(options, here);
  for (const DType type : options.types) {
    const bool lacks = std::find(lacking.begin(), lacking.end(), type) != lacking.end();
    text[lacks ? "types_lacking" : "types"].push_back(name_of(type));
  }
  for (const Op op : options.ops) text["ops"].push_back(name_of(op));
  text["sizes"] = cells;
  line(text.dump());
}

void Report::row(const Row& row) {
  Json text = {{"kind", "size"},
               {"collective", name_of(row.test.collective, row.test.kind)},
               {"bytes", row.test.bytes()},
               {"count", row.test.count},
               {"type", name_of(row.test.type)},
               {"op", name_of(row.test.op)},
               {"root", row.test.root},
               {"native", figures(row.native)},
               {"wrong_native", row.native.wrong}};
  const Samples& rounds = row.native.times.whole;
  if (line_ns_ > 0) text["line"] = stamps(rounds);
  wrong_native_ += row.native.wrong;
  if (row.blocking) text["blocking"] = figures(*row.blocking);
  if (row.sumac) {
    text["sumac"] = figures(*row.sumac);
    text["algorithm"] = row.algorithm;
    const double own = text["sumac"]["p50"], other = text["native"]["p50"];
    const double speedup = own > 0 && other > 0 ? other / own : 1;
    text["speedup"] = rounded(speedup);
    text["wrong"] = row.wrong();
    speedups_.push_back(speedup);
    bytes_.push_back(row.test.bytes());
    wrong_ += row.wrong();
  }
  line(text.dump());
}

void Report::cell(const ReduceCell& cell) {
  Json text = {{"kind", "size"},
               {"collective", name_of(Collective::reduce_local)},
               {"count", cell.count},
               {"type", name_of(cell.type)},
               {"op", name_of(cell.op)}};
  count(cell, add_results(cell, text));
  line(text.dump());
}

void Report::pack_header(const Options& options, const Surroundings& here,
                         const std::vector<PackCell>& left_out, std::size_t cells) {
  Json text = common_header(options, here);
  for (const Layout layout : options.layouts) text["layouts"].push_back(name_of(layout));
  for (const PackCell& cell : left_out)
    text["left_out"].push_back({{"layout", name_of(cell.layout)}, {"asked", cell.asked}});
  text["sizes"] = cells;
  line(text.dump());
}

void Report::cell(const PackCell& cell) {
  Json text = {{"kind", "size"},
               {"collective", "pack"},
               {"op", cell.call == Packing::pack ? "pack" : "unpack"},
               {"layout", name_of(cell.layout)}};
  count(cell, add_results(cell, text));
  line(text.dump());
}

void Report::count(const Cell& cell, double speedup) {
  wrong_native_ += cell.wrong_native;
  wrong_ += cell.wrong_sumac;
  if (speedup == 0) return;
  speedups_.push_back(speedup);
  bytes_.push_back(cell.bytes);
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

using Json = nlohmann::ordered_json;

std::string to_json(const Checked& checked) {
  Json collectives = Json::array();
  long wrong = 0;
  for (const Attempt& attempt : checked.attempts) {
    collectives.push_back({{"collective", name_of(attempt.test.collective)},
                           {"bytes", attempt.test.bytes()},
                           {"algorithm", attempt.algorithm},
                           {"wrong", attempt.wrong}});
    wrong += attempt.wrong;
  }
  const Json text = {{"kind", "check"},
                     {"family", checked.here.family},
                     {"mpi", checked.here.mpi},
                     {"ranks", checked.here.ranks},
                     {"hosts", checked.hosts},
                     {"loaded", checked.here.sumac.loaded},
                     {"active_ranks", checked.active_ranks},
                     {"description", checked.here.sumac.description},
                     {"collectives", collectives},
                     {"shm_free", checked.shared_memory_free},
                     {"cross_memory_attach", checked.cross_memory_attach},
                     {"wrong", wrong}};
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sumac::bench

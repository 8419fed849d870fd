// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/backend/backend.h"

#include <unistd.h>

#include <cstring>
#include <iterator>
#include <string>

#include "base/nearest.h"
#include "base/real_path.h"
#include "hierarchy/hierarchy.h"
#include "interpose/calls/check.h"
#include "interpose/process/process.h"
#include "interpose/process/timed.h"
#include "interpose/watch/profile.h"
#include "kernels/reduce.h"
#include "kernels/simd.h"
#include "machine/location.h"
#include "machine/machine.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "rules/forced.h"
#include "team/thread_budget.h"

namespace sumac {
namespace {

void warn(void*, const sumac_problem* problem) {
  log(Level::warn, "warning[%s]: %s; %s", problem->slug, problem->what, problem->instead);
}

// The options were read from these files and the environment.
const sumac_site* site;

void refuse(const char* name, const std::string& why) {
  sumac_options_refuse(&options, site, name, why.c_str(), "", warn, nullptr);
}

std::string simd_problem() {
  static constexpr const char* kNames[] = {"auto",   "256bit", "avx3_fp16", "avx3",
                                           "avx512", "avx2",   "sse4",      "ssse3",
                                           "sse2",   "sve",    "neon",      "scalar"};
  std::string problem = "no instruction set is called so; ";
  const std::size_t length = std::strlen(options.simd);
  if (const char* near = sumac_nearest(options.simd, length, kNames, std::size(kNames))) {
    problem += std::string("did you mean '") + near + "'? ";
  }
  problem += "(known: ";
  for (const char* name : kNames) problem += std::string(name == kNames[0] ? "" : ", ") + name;
  return problem + ")";
}

// Checks values of kind text, which only their users can judge.
void check_texts() {
  std::string problem;
  if (!check_forced(options.algo, problem)) refuse("ALGO", problem);
  if (!check_hierarchies(options.hierarchy, problem)) refuse("HIERARCHY", problem);
  if (sumac_check check; sumac_parse_check(options.check, &check) != 0) {
    refuse("CHECK",
           "not a comma list of calls, results or results:1/N, end, and dir:FOLDER at the end");
  }
  if (!usual_simd_name(options.simd)) refuse("SIMD", simd_problem());
}

void choose_simd() {
  if (force_simd(options.simd)) return;
  log(Level::warn, "warning[simd]: SUMAC_SIMD=%.80s: this processor has no %s; using %s",
      options.simd, usual_simd_name(options.simd), simd_name());
}

// The file's name is made absolute, because the program may change its working directory.
// SUMAC_TRACE and the like name folders that exist, which writable_folder() finds.
void keep_paths() {
  static auto& stats = *new std::string;
  const sumac_report report = stats_wanted();
  if (report.file) {
    stats = (report.all_ranks ? "all," : "") + absolute_path(report.file);
    options.stats = stats.c_str();
  }
}

}  // namespace

void read_settings(const sumac_site* of_site) {
  site = of_site;
  set_log(Level::warn, -1);
  sumac_options_read(&options, environ, site, warn, nullptr);
  set_log(static_cast<Level>(options.debug), -1);
  keep_paths();
  if (stats_wanted().wanted || logs(Level::trace)) time_calls();
  check_texts();
  read_user_rules();
  read_check_option();
  read_profile_option();
  choose_simd();
  // A larger result has left the caches by the time it is read.
  if (const std::size_t share = cache_share("", own_cpus())) set_stream_bytes(share);
  read_thread_options(options);
  if (*options.trace) trace::start(options.trace);
}

}  // namespace sumac

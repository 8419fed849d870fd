// SPDX-License-Identifier: BSD-3-Clause
// sumac-plan, which `sumac plan` executes. Exit status: 0 done, 1 standard output cannot be
// written, 2 usage.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "cli/error.h"
#include "plan/explain.h"
#include "plan/options.h"
#include "rules/forced.h"

namespace sumac::plan {
namespace {

RuleSet read(const Options& options) {
  RuleSet rules;
  std::string problem;
  if (!options.rules.empty() && !read_rules(options.rules.c_str(), rules, problem)) {
    throw Failure::of_problem("rules", "", problem, "");
  }
  return rules;
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return finish_output(0);
  std::string problem;
  if (!check_forced(options.algo.c_str(), problem)) {
    throw Failure::of_problem("usage", "--algo " + options.algo + ": ", problem,
                              "'sumac info algorithms' lists the algorithms");
  }
  const RuleSet rules = read(options);
  const Explanation explanation = explain(options, make_places(options), rules);
  if (options.json.empty()) {
    std::fputs(to_text(explanation, rules, options).c_str(), stdout);
    return finish_output(0);
  }
  const bool to_file = options.json != "-";
  if (to_file && std::freopen(options.json.c_str(), "w", stdout) == nullptr) {
    throw Failure("bad-value", "--json " + options.json + ": " + std::strerror(errno),
                  "name a file that can be written");
  }
  std::fputs(to_json(explanation, rules, options).c_str(), stdout);
  const int code = finish_output(0);
  if (to_file && code == 0) std::fprintf(stderr, "sumac: wrote %s\n", options.json.c_str());
  return code;
}

}  // namespace
}  // namespace sumac::plan

int main(int argc, char** argv) {
  try {
    return sumac::plan::run(argc, argv);
  } catch (const sumac::plan::Failure& failure) {
    report_error(failure.slug, failure.what(), nullptr, failure.fix.c_str());
    return kExitUsage;
  }
}

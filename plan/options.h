// SPDX-License-Identifier: BSD-3-Clause
// The command line of `sumac plan`.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/types.h"
#include "hierarchy/hierarchy.h"
#include "rules/choice_table.h"

namespace CLI {
class App;
}

namespace sumac::plan {

struct Options {
  Collective collective = Collective::allreduce;
  std::uint64_t bytes = 0;
  int ranks = 2;
  int nodes = 1;
  std::string machine;  // of each node; "": not given
  bool round_robin = false, unbound = false;
  std::vector<int> slow;
  SlowDesign slow_design = SlowDesign::basic;
  std::string hierarchy = "auto", rules, algo;
  bool no_attach = false, reproducible = false;
  std::uint16_t node_radix = 0;  // as in Capabilities
  Measured measured;             // of ranks that share memory
  Family family = Family::any;
  std::string json;  // the file that gets JSON, "-" for standard output; "": not wanted
};

// An error that ends the command, in the form of cli/error.h.
struct Failure : std::runtime_error {
  Failure(const char* name, const std::string& what, std::string how)
      : std::runtime_error(what), slug(name), fix(std::move(how)) {}
  // A problem that rules or hierarchies have found, which may end with "; " and what to do; else
  // `how` is.
  static Failure of_problem(const char* name, const std::string& where, const std::string& problem,
                            const std::string& how);
  const char* slug;
  std::string fix;
};

// False if help was printed and there is nothing left to do. Throws Failure.
bool parse(int argc, char** argv, Options& options);

// The help of `sumac plan`, in the layout of the commands in Python (help_layout.py).
std::string help_of(const CLI::App& app, const char* examples, const char* status);

}  // namespace sumac::plan

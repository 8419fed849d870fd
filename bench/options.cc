// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <CLI/CLI.hpp>
#include <climits>
#include <map>
#include <sstream>

namespace sumac::bench {
namespace {

template <typename Choice>
using Names = std::map<std::string, Choice>;

Names<DType> type_names() {
  Names<DType> names{{"int", DType::i32}};
  for (int i = 0; i < kNumDTypes; i++) names[name_of(DType(i))] = DType(i);
  return names;
}

Names<Op> op_names() {
  Names<Op> names;
  for (int i = 0; i < kNumOps; i++) names[name_of(Op(i))] = Op(i);
  return names;
}

struct What {
  Collective collective;
  Kind kind;
};

Names<What> what_names() {
  Names<What> names;
  for (const Kind kind : {Kind::blocking, Kind::nonblocking, Kind::persistent})
    for (const Collective collective :
         {Collective::allreduce, Collective::reduce, Collective::bcast, Collective::barrier})
      names[name_of(collective, kind)] = {collective, kind};
  return names;
}

// Declares an option that takes one of `names`, and hands the choice to `set`.
template <typename Choice, typename Set>
CLI::Option* add_choice(CLI::App& app, const std::string& option, Set set,
                        const Names<Choice>& names, const std::string& doc) {
  std::string known;
  for (const auto& [name, choice] : names) known += (known.empty() ? "" : ", ") + name;
  const auto read = [set, names, option, known](const std::string& text) {
    const auto found = names.find(text);
    if (found == names.end()) throw CLI::ValidationError(option, text + " is not one of: " + known);
    set(found->second);
  };
  return app.add_option_function<std::string>(option, read, doc + ": " + known);
}

// What goes on between start and wait.
void declare_overlap(CLI::App& app, Options& options) {
  const Names<Compute> computes{{"busy", Compute::busy}, {"idle", Compute::idle}};
  app.add_flag("--overlap", options.overlap,
               "measure how much of the call can be computed through");
  app.add_option("--tests", options.tests, "MPI_Test calls in the computation")
      ->check(CLI::Range(0, 1000000));
  add_choice(
      app, "--compute", [&options](Compute mode) { options.compute = mode; }, computes,
      "what the core does meanwhile");
}

void declare(CLI::App& app, Options& options) {
  const CLI::AsSizeValue size(false);
  const auto set_what = [&options](What what) {
    options.collective = what.collective;
    options.kind = what.kind;
  };
  const auto set_type = [&options](DType type) { options.type = type; };
  const auto set_op = [&options](Op op) { options.op = op; };
  add_choice(app, "collective", set_what, what_names(), "what to measure")->required();
  app.add_option("-b,--min", options.min_bytes, "smallest message (4, 64K, 1M)")->transform(size);
  app.add_option("-e,--max", options.max_bytes, "largest message")->transform(size);
  app.add_option("-f,--factor", options.factor, "from one size to the next")
      ->check(CLI::Range(2, 1 << 20));
  add_choice(app, "-d,--type", set_type, type_names(), "element type");
  add_choice(app, "-o,--op", set_op, op_names(), "operation");
  app.add_option("-r,--root", options.root, "root rank")->check(CLI::Range(0, INT_MAX));
  app.add_flag("--in-place", options.in_place, "use MPI_IN_PLACE");
  app.add_option("-w,--warmup", options.warmup, "untimed calls of each contender before a size")
      ->check(CLI::Range(0, INT_MAX));
  app.add_option("--rounds", options.rounds, "rounds; both contenders are measured in each")
      ->check(CLI::Range(1, 10000));
  app.add_option("--iterations", options.iterations, "timed calls in a round; 0 chooses by time")
      ->check(CLI::Range(0, 10000000));
  app.add_option("--seconds", options.seconds, "time one size may take")
      ->check(CLI::Range(0.001, 3600.0));
  declare_overlap(app, options);
  app.add_option("-J,--json", options.json_file, "write the JSON lines to this file too");
}

bool valid(DType type, Op op) { return !is_float(type) || op <= Op::max; }

}  // namespace

int parse(int argc, char** argv, Options& options, std::string& message) {
  CLI::App app{"Measures an MPI's own collectives and Sumac's side by side, checking both"};
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, complaint;
    const int code = app.exit(error, out, complaint);
    message = out.str() + complaint.str();
    return code == 0 ? 0 : 2;
  }
  return -1;
}

std::string objection(const Options& options, int ranks, const std::string& library) {
  const bool reduces =
      options.collective == Collective::allreduce || options.collective == Collective::reduce;
  if (options.root >= ranks) return "root " + std::to_string(options.root) + " is not a rank";
  if (options.min_bytes < 1 || options.min_bytes > options.max_bytes)
    return "the smallest size must be at least 1 and at most the largest";
  if (options.max_bytes / size_of(options.type) > INT_MAX)
    return "an MPI call takes at most 2^31-1 elements";
  if (counts(options).empty())
    return std::string("no size from the smallest to the largest holds one ") +
           name_of(options.type);
  if (reduces && !valid(options.type, options.op))
    return std::string("MPI has no ") + name_of(options.op) + " of " + name_of(options.type);
  if (options.in_place && !reduces)
    return name_of(options.collective, options.kind) + " has no in-place form";
  if (options.overlap && options.kind == Kind::blocking)
    return std::string("nothing can overlap a blocking ") + name_of(options.collective);
  // MPICH 4.0.2 crashes in MPI_Reduce with MPI_IN_PLACE at a root other than 0, without Sumac.
  if (options.in_place && options.collective == Collective::reduce && options.root != 0 &&
      library.find("MPICH Version:\t4.0") != std::string::npos)
    return "this MPICH crashes by itself in an in-place MPI_Reduce whose root is not 0";
  return "";
}

std::vector<std::size_t> counts(const Options& options) {
  if (options.collective == Collective::barrier) return {0};
  std::vector<std::size_t> result;
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes;
       bytes *= static_cast<std::size_t>(options.factor)) {
    const std::size_t count = bytes / size_of(options.type);
    if (count > 0 && (result.empty() || count != result.back())) result.push_back(count);
  }
  return result;
}

}  // namespace sumac::bench

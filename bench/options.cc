// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <map>

#include "cli/numbers.h"

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

Names<Layout> layout_names() {
  Names<Layout> names;
  for (int i = 0; i < kNumLayouts; i++) names[name_of(Layout(i))] = Layout(i);
  return names;
}

struct What {
  Collective collective;
  Kind kind;
  bool pack = false;
};

Names<What> what_names() {
  Names<What> names;
  for (const Kind kind : {Kind::blocking, Kind::nonblocking, Kind::persistent})
    for (const CollectiveInfo& info : kCollectives)
      if (is_of_ranks(info.collective))
        names[name_of(info.collective, kind)] = {info.collective, kind};
  names["reduce_local"] = {Collective::reduce_local, Kind::blocking};
  names["pack"] = {Collective::allreduce, Kind::blocking, true};
  return names;
}

template <typename Choice>
std::string listed(const Names<Choice>& names) {
  std::string known;
  for (const auto& [name, choice] : names) known += (known.empty() ? "" : ", ") + name;
  return known;
}

template <typename Choice>
Choice chosen(const std::string& option, const Names<Choice>& names, const std::string& text) {
  const auto found = names.find(text);
  if (found != names.end()) return found->second;
  throw CLI::ValidationError(option, text + " is not one of: " + listed(names));
}

// Declares an option that takes one of `names`, and passes the choice to `set`.
template <typename Choice, typename Set>
CLI::Option* add_choice(CLI::App& app, const std::string& option, Set set,
                        const Names<Choice>& names, const std::string& doc) {
  const auto read = [set, names, option](const std::string& text) {
    set(chosen(option, names, text));
  };
  return app.add_option_function<std::string>(option, read, doc + ": " + listed(names));
}

// Declares an option that takes several of `names`, separated by commas.
template <typename Choice>
void add_choices(CLI::App& app, const std::string& option, std::vector<Choice>& choices,
                 const Names<Choice>& names, const std::string& doc) {
  const auto read = [&choices, names, option](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) choices.push_back(chosen(option, names, text));
  };
  app.add_option_function<std::vector<std::string>>(option, read, doc)->delimiter(',');
}

// These check what numbers.h reads. Sizes are handed on in bytes.
template <typename Number>
CLI::Validator within(std::string (*read)(const std::string&, Number, Number, Number&),
                      Number least, Number most) {
  const auto check = [=](std::string& text) {
    Number number = 0;
    const std::string wrong = read(text, least, most, number);
    return wrong.empty() ? wrong : text + ": " + wrong;
  };
  return {check, ""};
}

CLI::Validator whole(std::int64_t least, std::int64_t most) {
  return within(read_whole_number, least, most);
}

CLI::Validator real(double least, double most) { return within(read_real_number, least, most); }

CLI::Validator size() {
  const auto read = [](std::string& text) {
    std::uint64_t bytes = 0;
    const std::string wrong = read_size(text, bytes);
    if (!wrong.empty()) return text + ": " + wrong;
    text = std::to_string(bytes);
    return wrong;
  };
  return {read, ""};
}

// Declares the options of the computation between start and wait.
void declare_overlap(CLI::App& app, Options& options) {
  const Names<Compute> computes{{"busy", Compute::busy}, {"idle", Compute::idle}};
  app.add_flag("--overlap", options.overlap,
               "measure how much of the call can be computed through");
  app.add_option("--tests", options.tests, "MPI_Test calls in the computation")
      ->check(whole(0, 1000000));
  add_choice(
      app, "--compute", [&options](Compute mode) { options.compute = mode; }, computes,
      "what the core does meanwhile");
}

void declare_sizes(CLI::App& app, Options& options) {
  app.add_option("-b,--min", options.min_bytes, "smallest message (4, 64K, 1M)")->transform(size());
  app.add_option("-e,--max", options.max_bytes, "largest message")->transform(size());
  app.add_option("-f,--factor", options.factor, "from one size to the next")
      ->check(whole(2, 1 << 20));
  app.add_option("--sizes", options.sizes, "these sizes and no others (1K,64K)")
      ->delimiter(',')
      ->transform(size());
}

void declare(CLI::App& app, Options& options) {
  const auto set_what = [&options](What what) {
    options.collective = what.collective;
    options.kind = what.kind;
    options.pack = what.pack;
  };
  const auto set_type = [&options](DType type) { options.type = type; };
  const auto set_op = [&options](Op op) { options.op = op; };
  add_choice(app, "collective", set_what, what_names(), "what to measure")->required();
  declare_sizes(app, options);
  add_choice(app, "-d,--type", set_type, type_names(), "element type");
  add_choice(app, "-o,--op", set_op, op_names(), "operation");
  add_choices(app, "--types", options.types, type_names(), "element types of reduce_local");
  add_choices(app, "--ops", options.ops, op_names(), "operations of reduce_local");
  add_choices(app, "--layouts", options.layouts, layout_names(), "datatypes of pack");
  app.add_option("-r,--root", options.root, "root rank")->check(whole(0, INT_MAX));
  app.add_flag("--in-place", options.in_place, "use MPI_IN_PLACE");
  app.add_flag("--with-counts", options.with_counts,
               "by the function with a count for each rank: MPI_Allgatherv for allgather");
  app.add_option("-w,--warmup", options.warmup, "untimed calls of each contender before a size")
      ->check(whole(0, INT_MAX));
  app.add_option("--rounds", options.rounds, "rounds; both contenders are measured in each")
      ->check(whole(1, 10000));
  app.add_option("--iterations", options.iterations, "timed calls in a round; 0 chooses by time")
      ->check(whole(0, 10000000));
  app.add_option("--seconds", options.seconds, "time one size may take")->check(real(0.001, 3600));
  app.add_option("--cold", options.cold,
                 "time the first N calls of each size, which nothing comes before")
      ->check(whole(0, 1000000));
  declare_overlap(app, options);
  app.add_option("-J,--json", options.json_file, "write the JSON lines to this file too");
}

template <typename Choice>
std::vector<Choice> every(int number) {
  std::vector<Choice> all;
  for (int i = 0; i < number; i++) all.push_back(Choice(i));
  return all;
}

}  // namespace

int parse(int argc, char** argv, Options& options, std::string& message) {
  CLI::App app{"Measures an MPI's own collectives and Sumac's side by side, checking both"};
  declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    message = app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    message = std::string("sumac: error[usage]: ") + error.what() + "\n";
    return 2;
  }
  if (options.types.empty()) options.types = every<DType>(kNumDTypes);
  if (options.ops.empty()) options.ops = every<Op>(kNumOps);
  if (options.layouts.empty()) options.layouts = every<Layout>(kNumLayouts);
  return -1;
}

std::vector<std::size_t> sizes_in_bytes(const Options& options) {
  std::vector<std::size_t> sizes = options.sizes;
  if (sizes.empty())
    for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes;
         bytes *= static_cast<std::size_t>(options.factor))
      sizes.push_back(bytes);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<std::size_t> counts(const Options& options, int ranks) {
  if (!info_of(options.collective).has_data) return {0};
  std::vector<std::size_t> result;
  for (const std::size_t bytes : sizes_in_bytes(options)) {
    std::size_t count = bytes / size_of(options.type);
    if (options.test(count).has_parts()) count -= count % static_cast<std::size_t>(ranks);
    if (count > 0 && (result.empty() || count != result.back())) result.push_back(count);
  }
  return result;
}

}  // namespace sumac::bench

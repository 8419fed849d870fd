// SPDX-License-Identifier: BSD-3-Clause
#include "plan/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>
#include <map>
#include <string_view>

#include "base/nearest.h"
#include "base/switch_word.h"
#include "cli/numbers.h"
#include "config/parse.h"

namespace sumac::plan {
namespace {

const char kShowsHow[] = "'sumac plan --help' shows how";
const char kSizes[] = "write a number of bytes, or 64K, 1M, 2G";

const char kDescription[] =
    "Show which algorithms a collective takes, on this machine or another.\n"
    "\n"
    "Level by level, with what they cost: steps one after another, bytes, and a\n"
    "predicted time in shared memory.";

const char kExamples[] =
    "  sumac plan allreduce 64K -n 64 --nodes 4 --machine \"package:2 core:8\"\n"
    "  sumac plan bcast 1M -n 32 --machine machine.xml --hierarchy l3,package\n"
    "  sumac plan reduce 8 -n 8 --rules my.toml\n";

const char kStatus[] = "Exit status: 0 done, 1 failed, 2 usage.\n";

}  // namespace

Failure Failure::of_problem(const char* name, const std::string& where, const std::string& problem,
                            const std::string& how) {
  const std::size_t advice = problem.rfind("; ");
  if (advice == problem.npos) return {name, where + problem, how};
  return {name, where + problem.substr(0, advice), problem.substr(advice + 2)};
}

namespace {

[[noreturn]] void fail(const std::string& what) { throw Failure("usage", what, kShowsHow); }

// The known word that was probably meant; all of them if none is near. errors.py does the same.
std::string advice(const std::string& text, const std::vector<std::string>& known) {
  std::vector<const char*> words;
  for (const std::string& each : known) words.push_back(each.c_str());
  const char* near = sumac_nearest(text.c_str(), text.size(), words.data(), words.size());
  return near ? std::string("did you mean ") + near + "?"
              : "one of " + CLI::detail::join(known, ", ");
}

// Declares an option that takes one of `names`.
template <typename Value>
CLI::Option* add_choice(CLI::App& app, const std::string& option, Value& field,
                        const std::vector<std::pair<std::string, Value>>& names,
                        const std::string& doc) {
  std::string known;
  std::vector<std::string> words;
  for (const auto& [name, value] : names) {
    known += (known.empty() ? "" : ", ") + name;
    words.push_back(name);
  }
  const auto set = [&field, names, option, words](const std::string& text) {
    for (const auto& [name, value] : names) {
      if (name != text) continue;
      field = value;
      return;
    }
    throw Failure("bad-value", option + " " + text + ": not known", advice(text, words));
  };
  return app.add_option_function<std::string>(option, set, doc + known);
}

// Declares an option that takes a whole number from `least` to kMostRanks.
CLI::Option* add_count(CLI::App& app, const std::string& option, int& field, int least,
                       const std::string& doc) {
  const std::string name = option.substr(0, option.find(','));
  const auto set = [&field, name, least](const std::string& text) {
    std::int64_t number = 0;
    const std::string wrong = read_whole_number(text, least, kMostRanks, number);
    if (!wrong.empty()) throw Failure("bad-value", name + " " + text + ": " + wrong, kShowsHow);
    field = static_cast<int>(number);
  };
  return app.add_option_function<std::string>(option, set, doc)->type_name("N");
}

// SUMAC_NODE_RADIX, as the library reads it.
std::uint16_t to_radix(const std::string& text) {
  const auto* const end = sumac_option_rows + sumac_num_options_and_hooks;
  const auto* const row = std::find_if(sumac_option_rows, end, [](const sumac_option_row& each) {
    return std::string_view(each.name) == "NODE_RADIX";
  });
  sumac_value value{};
  if (sumac_parse_value(row, text.c_str(), &value) != 0) {
    fail("--node-radix " + text + " is not auto, off, or 1 to 64");
  }
  return static_cast<std::uint16_t>(value.number);
}

int to_rank(const std::string& text, const std::string& all) {
  std::int64_t rank = 0;
  if (!read_whole_number(text, 0, kMostRanks, rank).empty()) {
    fail("--slow " + all + " is not a list of ranks such as 0-3,8");
  }
  return static_cast<int>(rank);
}

// "0-3,8" -> 0 1 2 3 8
std::vector<int> to_ranks(const std::string& text, int ranks) {
  std::vector<int> result;
  for (const std::string& item : CLI::detail::split(text, ',')) {
    const std::size_t dash = item.find('-');
    const int first = to_rank(item.substr(0, dash), text);
    const int last = dash == std::string::npos ? first : to_rank(item.substr(dash + 1), text);
    if (first > last || last >= ranks) {
      fail("--slow " + text + ": " + item + " is not within the ranks 0 to " +
           std::to_string(ranks - 1));
    }
    for (int rank = first; rank <= last; ++rank) result.push_back(rank);
  }
  return result;
}

void declare_ranks(CLI::App& app, Options& options, std::string& slow) {
  add_count(app, "-n,--ranks", options.ranks, 2, "Number of ranks, 2 or more (required)")
      ->required();
  add_count(app, "--nodes", options.nodes, 1, "Nodes they run on (default: 1)");
  app.add_option("--machine", options.machine,
                 "Each node: \"package:2 core:16\", or a file that 'lstopo machine.xml' has "
                 "written; without it, where ranks lie in their node is not known")
      ->type_name("MACHINE");
  add_choice<bool>(app, "--map", options.round_robin, {{"block", false}, {"round-robin", true}},
                   "How ranks are dealt to the nodes (default: block): ")
      ->type_name("HOW");
  app.add_flag("--unbound", options.unbound, "Ranks may use their whole node");
  app.add_option("--slow", slow, "Ranks that are slow, such as 32-63,70")->type_name("RANKS");
  add_choice<SlowDesign>(
      app, "--slow-design", options.slow_design,
      {{"basic", SlowDesign::basic}, {"direct", SlowDesign::direct}, {"peer", SlowDesign::peer}},
      "How slow ranks take part (default: SUMAC_SLOW_DESIGN): ")
      ->envname("SUMAC_SLOW_DESIGN")
      ->type_name("DESIGN");
}

// The classes of what is measured, by their names, of which the first is `unknown`.
template <class Class, std::size_t kNames>
std::vector<std::pair<std::string, Class>> classes_of(const char* const (&names)[kNames]) {
  std::vector<std::pair<std::string, Class>> all;
  for (std::size_t i = 1; i < kNames; ++i) all.emplace_back(names[i], static_cast<Class>(i));
  return all;
}

void declare(CLI::App& app, Options& options, std::string& slow) {
  std::vector<std::pair<std::string, Collective>> collectives;
  for (const CollectiveInfo& info : kCollectives) {
    if (is_of_ranks(info.collective)) collectives.emplace_back(info.name, info.collective);
  }
  add_choice<Collective>(app, "COLLECTIVE", options.collective, collectives, "")
      ->required()
      ->type_name("");
  const auto set_bytes = [&options](const std::string& text) {
    const std::string wrong = read_size(text, options.bytes);
    if (wrong.empty()) return;
    throw Failure("bad-value", "BYTES " + text + ": " + wrong, kSizes);
  };
  app.add_option_function<std::string>("BYTES", set_bytes,
                                       "Size of a rank's data: 4, 64K, 1M; none for barrier")
      ->type_name("");
  declare_ranks(app, options, slow);
  app.add_option("--hierarchy", options.hierarchy,
                 "Levels of groups (default: SUMAC_HIERARCHY, or auto)")
      ->envname("SUMAC_HIERARCHY")
      ->type_name("SPEC");
  app.add_option("--rules", options.rules,
                 "A TOML file of rules that go before the shipped ones "
                 "(default: SUMAC_RULES)")
      ->envname("SUMAC_RULES")
      ->type_name("FILE");
  app.add_option("--algo", options.algo, "Forced algorithms (default: SUMAC_ALGO)")
      ->envname("SUMAC_ALGO")
      ->type_name("LIST");
  app.add_option_function<std::string>(
         "--node-radix", [&](const std::string& text) { options.node_radix = to_radix(text); },
         "Degree of trees in shared memory: auto, off, or 2 to 64 (default: SUMAC_NODE_RADIX)")
      ->envname("SUMAC_NODE_RADIX")
      ->type_name("RADIX");
  add_choice<Family>(app, "--mpi", options.family,
                     {{"openmpi", Family::openmpi}, {"mpich", Family::mpich}}, "The MPI below: ")
      ->type_name("MPI");
  add_choice<Distance>(app, "--handover", options.measured.distance,
                       classes_of<Distance>(kDistanceNames),
                       "How far ranks that share memory are from one another, by what is measured "
                       "when a communicator is set up (default: not measured): ")
      ->type_name("CLASS");
  add_choice<Attach>(app, "--attach", options.measured.attach, classes_of<Attach>(kAttachNames),
                     "What a copy by cross-memory attach costs beside one through slots, measured "
                     "likewise (default: not measured): ")
      ->type_name("CLASS");
  app.add_flag("--reproducible", options.reproducible,
               "Reductions fold in the order of ranks, as with SUMAC_REPRODUCIBLE=1");
  app.add_flag("--no-attach", options.no_attach, "As where cross-memory attach does not work");
  app.add_flag("--json{-}", options.json, "Print JSON, or write it to FILE")->type_name("[=FILE]");
}

// Names everything that is missing, at once.
void require(const CLI::App& app, const Options& options) {
  std::vector<std::string> missing;
  if (app.count("COLLECTIVE") == 0) missing.emplace_back("COLLECTIVE");
  if (info_of(options.collective).has_data && app.count("BYTES") == 0)
    missing.emplace_back("BYTES");
  if (app.count("-n") == 0) missing.emplace_back("-n");
  if (missing.empty()) return;
  const char* verb = missing.size() == 1 ? " is missing" : " are missing";
  fail(CLI::detail::join(missing, ", ") + verb);
}

// What is wrong with words that the parser left over.
[[noreturn]] void refuse(const CLI::App& app, const std::string& word) {
  if (word[0] != '-') fail(word + ": one argument too many");
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string near = advice(word, known);
  throw Failure("usage", word + ": there is no such option",
                near.rfind("did", 0) == 0 ? near : kShowsHow);
}

std::string in_one_line(std::string text) {
  for (char& c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) c = ' ';
  }
  return text;
}

void check(const Options& options) {
  const CollectiveInfo& info = info_of(options.collective);
  if (!info.has_data && options.bytes != 0) fail("a barrier has no bytes");
  if (info.has_data && info.is_sized && options.bytes == 0) {
    throw Failure("bad-value", "BYTES 0: a call without data needs no algorithm", kSizes);
  }
  if (options.nodes > options.ranks) {
    fail(std::to_string(options.ranks) + " ranks cannot run on " + std::to_string(options.nodes) +
         " nodes");
  }
}

}  // namespace

bool parse(int argc, char** argv, Options& options) {
  CLI::App app{kDescription, "sumac plan"};
  app.set_help_flag("-h,--help", "Show this help");
  std::string slow;
  declare(app, options, slow);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    std::cout << help_of(app, kExamples, kStatus);
    return false;
  } catch (const CLI::RequiredError&) {
    require(app, options);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    fail(what.substr(0, what.find(':')) + ": wants a value");
  } catch (const CLI::ExtrasError&) {
    refuse(app, app.remaining().front());
  } catch (const CLI::ParseError& error) {
    fail(in_one_line(error.what()));
  }
  require(app, options);
  check(options);
  // As the library reads SUMAC_RULES: a word such as "no" means that there is no file.
  if (sumac_switch_word(options.rules.c_str()) == 0) options.rules.clear();
  if (!slow.empty()) options.slow = to_ranks(slow, options.ranks);
  return true;
}

}  // namespace sumac::plan

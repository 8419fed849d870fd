// SPDX-License-Identifier: BSD-3-Clause
// This file knows what each key of a [[rule]] may say. Every refusal ends with the fix.
#include "rules/rules_parse.h"

#include <algorithm>
#include <iterator>

#include "base/nearest.h"
#include "config/parse.h"

namespace sumac {
namespace {

constexpr std::uint64_t kLeastChunk = 4 << 10, kMostChunk = 1 << 30, kChunkStep = 64;
constexpr int kLeastRadix = 2, kMostRadix = 64;

using Names = std::vector<const char*>;

bool fail(TextProblem& problem, int line, std::string what) {
  problem = {line, std::move(what)};
  return false;
}

// Returns "; did you mean 'x'? (known: x, y, z)".
std::string suggestion(const std::string& name, const Names& known) {
  std::string text = "; ";
  if (const char* near = sumac_nearest(name.c_str(), name.size(), known.data(), known.size())) {
    text += std::string("did you mean '") + near + "'? ";
  }
  text += "(known: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += std::string(i ? ", " : "") + known[i];
  return text + ")";
}

const char* an_example(const std::string& key) {
  if (key == "radix") return "a whole number, such as 4";
  if (key == "ranks" || key == "nodes") return "text such as \"2-16\", \"3\", \"8-\" or \"-8\"";
  if (key == "bytes") return "text such as \"0-2072\", \"64K-1M\", \"1M-\" or \"-32K\"";
  if (key == "chunk") return "text such as \"64K\"";
  return "text in quotation marks";
}

bool wrong_type(const RawField& field, TextProblem& problem) {
  const char* is = field.kind == RawField::Kind::text     ? "text"
                   : field.kind == RawField::Kind::number ? "a number"
                                                          : field.text.c_str();
  return fail(problem, field.line,
              "'" + field.key + "' is " + is + "; it must be " + an_example(field.key));
}

// Returns the index of the field's word among known names, or -1 (and the problem).
int word_of(const RawField& field, const Names& known, TextProblem& problem) {
  if (field.kind != RawField::Kind::text) {
    wrong_type(field, problem);
    return -1;
  }
  const auto at = std::find(known.begin(), known.end(), field.text);
  if (at != known.end()) return static_cast<int>(at - known.begin());
  fail(problem, field.line,
       "unknown " + field.key + " '" + shown(field.text) + "'" + suggestion(field.text, known));
  return -1;
}

// Parses a size or a plain count, as text or as a number.
bool parse_amount(const std::string& text, bool bytes, std::uint64_t& value) {
  return (bytes ? sumac_parse_bytes : sumac_parse_number)(text.c_str(), &value) == 0;
}

bool parse_span(const RawField& field, Span& span, TextProblem& problem) {
  if (field.kind == RawField::Kind::other) return wrong_type(field, problem);
  std::string text =
      field.kind == RawField::Kind::number ? std::to_string(field.number) : field.text;
  std::erase(text, ' ');
  const bool bytes = field.key == "bytes";
  const std::size_t dash = text.find('-');
  const std::string low = text.substr(0, dash);
  const std::string high = dash == std::string::npos ? low : text.substr(dash + 1);
  const bool good = field.number >= 0 && text.size() > (dash == 0) &&
                    (low.empty() || parse_amount(low, bytes, span.low)) &&
                    (high.empty() || parse_amount(high, bytes, span.high));
  if (!good) {
    return fail(problem, field.line,
                "'" + field.key + "' is '" + shown(text) + "', not a range; write " +
                    an_example(field.key) + ", or leave it out for any");
  }
  if (span.low > span.high) {
    return fail(problem, field.line,
                "'" + field.key + "' is '" + shown(text) +
                    "', which begins after its end; write the smaller first");
  }
  return true;
}

const RawField* find(const RawRule& raw, std::string_view key) {
  for (const RawField& field : raw.fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

bool check_keys(const RawRule& raw, TextProblem& problem) {
  static const auto& known =
      *new Names{"collective", "over",     "ranks",  "nodes",     "bytes", "room",
                 "mpi",        "handover", "attach", "algorithm", "chunk", "radix"};
  for (const RawField& field : raw.fields) {
    if (std::none_of(known.begin(), known.end(), [&](auto key) { return field.key == key; })) {
      return fail(problem, field.line,
                  "unknown key '" + shown(field.key) + "'" + suggestion(field.key, known));
    }
  }
  for (const char* key : {"collective", "over", "algorithm"}) {
    if (!find(raw, key)) {
      return fail(problem, raw.line,
                  std::string("this rule has no '") + key + "'; add it: " + key + " = \"...\"");
    }
  }
  return true;
}

bool is_for(const AlgorithmInfo& info, Collective collective, Over over) {
  return info.collective == collective && over_of(info.needs) == over;
}

// Returns what a rule for this collective and kind of group may choose. Only calls of whole
// communicators, whose group shares memory or has a hierarchy, can be left to the MPI.
Names choices(Collective collective, Over over) {
  Names names;
  for (const AlgorithmInfo& info : kAlgorithmInfos) {
    if (is_for(info, collective, over)) names.push_back(info.name);
  }
  if (over != Over::p2p) names.push_back("native");
  return names;
}

Algorithm algorithm_named(const std::string& name, Collective collective, Over over) {
  for (const Algorithm algorithm : kAllAlgorithms) {
    const AlgorithmInfo& info = info_of(algorithm);
    if (name == info.name && is_for(info, collective, over)) return algorithm;
  }
  return Algorithm::native;
}

bool refuse_algorithm(const RawField& field, const Rule& rule, const Names& names,
                      TextProblem& problem) {
  const std::string where =
      std::string(" for ") + name_of(rule.collective) + " over " + name_of(rule.over);
  if (names.empty()) {
    return fail(problem, field.line,
                std::string("there is nothing to choose") + where + "; leave the rule out");
  }
  for (const Over over : {Over::shm, Over::p2p, Over::levels}) {
    for (const char* name : choices(rule.collective, over)) {
      if (field.text != name) continue;
      return fail(problem, field.line,
                  "'" + field.text + "' cannot be chosen" + where + ": it is over " +
                      name_of(over) + suggestion("", names));
    }
  }
  return fail(
      problem, field.line,
      "unknown algorithm '" + shown(field.text) + "'" + where + suggestion(field.text, names));
}

bool parse_algorithm(const RawField& field, Rule& rule, TextProblem& problem) {
  if (field.kind != RawField::Kind::text) return wrong_type(field, problem);
  const Algorithm algorithm = algorithm_named(field.text, rule.collective, rule.over);
  if (algorithm == Algorithm::native && (field.text != "native" || rule.over == Over::p2p)) {
    return refuse_algorithm(field, rule, choices(rule.collective, rule.over), problem);
  }
  rule.choice = default_choice(algorithm);
  return true;
}

bool parse_chunk(const RawField& field, const std::string& algorithm, Choice& choice,
                 TextProblem& problem) {
  if (field.kind == RawField::Kind::other) return wrong_type(field, problem);
  if (tuned_of(choice.algorithm) != Tuned::chunk) {
    return fail(problem, field.line, "'" + algorithm + "' takes no chunk; leave 'chunk' out");
  }
  const bool number = field.kind == RawField::Kind::number;
  const std::string text = number ? std::to_string(field.number) : field.text;
  std::uint64_t bytes = 0;
  if (!parse_amount(text, true, bytes) || bytes < kLeastChunk || bytes > kMostChunk ||
      bytes % kChunkStep != 0) {
    return fail(problem, field.line,
                "'chunk' is '" + shown(text) +
                    "'; it must be a multiple of 64 bytes from 4K to 1G, such as \"64K\"");
  }
  choice.chunk = static_cast<std::uint32_t>(bytes);
  choice.exact_chunk = true;
  return true;
}

bool parse_radix(const RawField& field, const std::string& algorithm, Choice& choice,
                 TextProblem& problem) {
  if (field.kind != RawField::Kind::number) return wrong_type(field, problem);
  if (tuned_of(choice.algorithm) != Tuned::radix) {
    return fail(problem, field.line, "'" + algorithm + "' takes no radix; leave 'radix' out");
  }
  if (field.number < kLeastRadix || field.number > kMostRadix) {
    return fail(problem, field.line,
                "'radix' is " + std::to_string(field.number) + "; it must be from 2 to 64");
  }
  choice.radix = static_cast<std::uint16_t>(field.number);
  return true;
}

// Parses a class of what is measured. The first of `names` is `unknown`, which means any class
// here, as does a missing field.
template <class Class, std::size_t kNames>
bool parse_measured(const RawField* field, const char* const (&names)[kNames], const Rule& rule,
                    Class& out, TextProblem& problem) {
  if (!field) return true;
  if (rule.over != Over::shm) {
    return fail(problem, field->line, "'" + field->key + "' is for over = \"shm\"; leave it out");
  }
  Names words(std::begin(names), std::end(names));
  words[0] = "any";
  const int word = word_of(*field, words, problem);
  out = static_cast<Class>(word);
  return word >= 0;
}

bool parse_fit(const RawRule& raw, Rule& rule, TextProblem& problem) {
  static const auto& rooms = *new Names{"any", "own", "shared", "spare"};
  static const auto& families = *new Names{"any", "openmpi", "mpich"};
  const RawField* nodes = find(raw, "nodes");
  if (nodes && rule.over == Over::shm) {
    return fail(problem, nodes->line, "'nodes' is for over = \"levels\" or \"p2p\"; leave it out");
  }
  const RawField* ranks = find(raw, "ranks");
  const RawField* bytes = find(raw, "bytes");
  if (ranks && !parse_span(*ranks, rule.ranks, problem)) return false;
  if (nodes && !parse_span(*nodes, rule.nodes, problem)) return false;
  if (bytes && !info_of(rule.collective).is_sized) {
    return fail(problem, bytes->line,
                std::string("'bytes' is not for ") + name_of(rule.collective) +
                    ", whose ranks have different sizes; leave it out");
  }
  if (bytes && !parse_span(*bytes, rule.bytes, problem)) return false;
  const RawField* room = find(raw, "room");
  const int r = room ? word_of(*room, rooms, problem) : 0;
  rule.room = static_cast<Room>(r);
  const RawField* family = find(raw, "mpi");
  const int f = family ? word_of(*family, families, problem) : 0;
  rule.family = static_cast<Family>(f);
  return r >= 0 && f >= 0 &&
         parse_measured(find(raw, "handover"), kDistanceNames, rule, rule.handover, problem) &&
         parse_measured(find(raw, "attach"), kAttachNames, rule, rule.attach, problem);
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  std::string result(text.substr(0, most));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text.size() > most ? result + "..." : result;
}

bool parse_rule(const RawRule& raw, Rule& rule, TextProblem& problem) {
  static const auto& collectives = *new Names(collective_names(is_of_ranks));
  static const auto& overs = *new Names{"shm", "p2p", "levels"};
  if (!check_keys(raw, problem)) return false;
  const RawField& collective = *find(raw, "collective");
  if (word_of(collective, collectives, problem) < 0) return false;
  const int over = word_of(*find(raw, "over"), overs, problem);
  if (over < 0) return false;
  rule.collective = find_collective(collective.text)->collective;
  rule.over = static_cast<Over>(over);
  rule.line = raw.line;
  const RawField& algorithm = *find(raw, "algorithm");
  if (!parse_fit(raw, rule, problem) || !parse_algorithm(algorithm, rule, problem)) return false;
  const RawField* chunk = find(raw, "chunk");
  const RawField* radix = find(raw, "radix");
  return (!chunk || parse_chunk(*chunk, algorithm.text, rule.choice, problem)) &&
         (!radix || parse_radix(*radix, algorithm.text, rule.choice, problem));
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This program writes the shipped rules as a table in C++: parsing them would be most of what a
// process executes in the set-up of its first communicator.
//   compile_rules rules.toml shipped_rules.cc
// Exit status: 0 written, 1 not.
#include <cinttypes>
#include <cstdio>

#include "rules/rules.h"

namespace {

using namespace sumac;

const char kHead[] =
    "// Made by compile_rules from rules.toml.\n"
    "#include \"rules/rules.h\"\n\n"
    "namespace sumac {\n"
    "namespace {\n\n"
    "const Rule kRules[] = {\n";

const char kTail[] =
    "};\n\n"
    "}  // namespace\n\n"
    "const RuleSet& shipped_rules() {\n"
    "  static const auto* const shipped =\n"
    "      new RuleSet{{std::begin(kRules), std::end(kRules)}, 0x%" PRIx64
    "u};\n"
    "  return *shipped;\n"
    "}\n\n"
    "}  // namespace sumac\n";

void write_span(std::FILE* out, const Span& span) {
  std::fprintf(out, "{%" PRIu64 "u, %" PRIu64 "u}, ", span.low, span.high);
}

// Writes the fields in the order in which Rule has them. A shipped chunk is a proposal, not a wish.
void write_rule(std::FILE* out, const Rule& rule) {
  std::fprintf(out,
               "    {Collective{%d}, Over{%d}, Room{%d}, Family{%d}, Distance{%d}, Attach{%d}, ",
               static_cast<int>(rule.collective), static_cast<int>(rule.over),
               static_cast<int>(rule.room), static_cast<int>(rule.family),
               static_cast<int>(rule.handover), static_cast<int>(rule.attach));
  for (const Span& span : {rule.ranks, rule.nodes, rule.bytes}) write_span(out, span);
  std::fprintf(out, "{Algorithm{%d}, %" PRIu32 ", %d, false}, %d},\n",
               static_cast<int>(rule.choice.algorithm), rule.choice.chunk, rule.choice.radix,
               rule.line);
}

}  // namespace

int main(int argc, char** argv) {
  RuleSet rules;
  std::string problem = "usage: compile_rules rules.toml shipped_rules.cc";
  if (argc != 3 || !read_rules(argv[1], rules, problem)) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    return 1;
  }
  std::FILE* const out = std::fopen(argv[2], "w");
  if (!out) {
    std::perror(argv[2]);
    return 1;
  }
  std::fputs(kHead, out);
  for (const Rule& rule : rules.rules) write_rule(out, rule);
  std::fprintf(out, kTail, rules.hash);
  const bool written = std::ferror(out) == 0;
  return std::fclose(out) == 0 && written ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// The rules are data: they say which algorithm to take for which ranks, nodes, bytes and room. The
// first rule that fits is taken: a user's (SUMAC_RULES), then the shipped ones (rules.toml).
// docs/rules.md has the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "rules/choice_table.h"

namespace sumac {

// A rule may be for ranks that have processors of their own, that share them, or that leave some to
// their threads.
enum class Room : std::uint8_t { any, own, shared, spare };

// Both ends belong to the span.
struct Span {
  std::uint64_t low = 0, high = UINT64_MAX;
  bool holds(std::uint64_t value) const { return value >= low && value <= high; }
  bool operator==(const Span&) const = default;
};

struct Rule {
  Collective collective = Collective::allreduce;
  Over over = Over::shm;
  Room room = Room::any;
  Family family = Family::any;
  Distance handover = Distance::unknown;  // unknown: any
  Attach attach = Attach::unknown;        // unknown: any
  Span ranks, nodes, bytes;
  Choice choice;
  int line = 0;  // number in its file

  bool operator==(const Rule&) const = default;
};

struct RuleSet {
  std::vector<Rule> rules;
  // An FNV-1a hash of what the rules say, lines and comments aside. It is equal on two ranks if
  // their rules are.
  std::uint64_t hash = SUMAC_HASH_START;
};

// Returns the rules of rules.toml, which are compiled in (compile_rules.cc). The set is made at the
// first call and never freed.
const RuleSet& shipped_rules();

// Reads a user's file. Returns false if anything in it is wrong: `out` is then as before, and
// `problem` names file, line, what is wrong and the fix, in one line.
bool read_rules(const char* path, RuleSet& out, std::string& problem);

const char* name_of(Over over);

// Returns what a rule may set besides the algorithm; nothing if the MPI is to serve the call.
Tuned tuned_of(Algorithm algorithm);

// Returns the algorithm with the chunk and radix that it has if a rule says nothing.
Choice default_choice(Algorithm algorithm);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// How a communicator would serve a call, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hierarchy/hierarchy.h"
#include "levels/price.h"
#include "plan/options.h"
#include "rules/rules.h"

namespace sumac::plan {

// The ranks of a hypothetical communicator, and where each would run.
struct Places {
  std::vector<Place> of_ranks;
  bool oversubscribed = false;  // some node has more ranks than processors
  bool spare = false;           // every node has two processors a rank or more
};

// Throws Failure if the machine cannot be loaded.
Places make_places(const Options& options);

// An algorithm and what it costs: steps for one chunk, bytes and work for the whole message. There
// is no work where its time cannot be predicted: beyond shared memory, where ranks share
// processors, and in groups smaller than any that was measured.
struct Priced {
  Algorithm algorithm = Algorithm::native;
  int radix = 2;
  Cost cost;
};

// The work of groups of one size at a level.
struct Row {
  std::string level;
  int order = 0;  // among the stages
  int groups = 0, ranks = 0;
  Over over = Over::shm;
  const char* operation = "";
  std::uint64_t chunk = 0, chunks = 1;  // bytes of one chunk; number of chunks
  Priced taken;
  std::int32_t rule = kNoRule;  // as ChoiceRange::rule
  std::vector<Priced> others;   // eligible, not taken
};

// One way of serving the call.
struct Way {
  Algorithm algorithm = Algorithm::native;
  std::uint64_t chunk = 0, chunks = 1;  // most bytes of one (0: there is one); their number
  std::vector<Row> rows;
  Cost cost;  // of all rows: chunks overlap
  std::uint64_t between_nodes = 0;
};

struct Explanation {
  Over over = Over::levels;     // of the communicator
  std::int32_t rule = kNoRule;  // that chose the way, if there are several groups
  Way taken;
  // What trials compare (SUMAC_ADAPT), the likeliest first: what is taken, and what may replace it.
  std::vector<Algorithm> candidates;
  std::vector<Way> others;
};

// Throws Failure if the hierarchy or the rules are invalid.
Explanation explain(const Options& options, const Places& places, const RuleSet& rules);

// The place of a rule: "my.toml:12", "rules.toml:30", "forced" (SUMAC_ALGO), "radix"
// (SUMAC_NODE_RADIX).
std::string rule_name(std::int32_t rule, const RuleSet& rules, const Options& options);

// An explanation as text and as JSON, both with a newline at the end.
std::string to_text(const Explanation& explanation, const RuleSet& rules, const Options& options);
std::string to_json(const Explanation& explanation, const RuleSet& rules, const Options& options);

}  // namespace sumac::plan

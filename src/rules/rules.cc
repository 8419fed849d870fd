// SPDX-License-Identifier: BSD-3-Clause
#include "rules/rules.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rules/rules_parse.h"

namespace sumac {
namespace {

constexpr std::size_t kMostFile = 1 << 20;

struct File {
  int descriptor;
  explicit File(const char* path) : descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
};

// Returns null, or what is wrong with the file.
const char* why_unfit(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "is a directory; name a TOML file";
  if (!S_ISREG(status.st_mode)) return "is not a regular file; name a TOML file";
  if (static_cast<std::size_t>(status.st_size) > kMostFile) {
    return "is larger than 1 MiB, which no file of rules is; name another";
  }
  return nullptr;
}

// Reads the file. Returns null, or what is wrong. Reads at most the limit, however the file grows
// meanwhile.
const char* read_all(const File& file, std::string& text) {
  text.resize(kMostFile + 1);
  std::size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = read(file.descriptor, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return "cannot be read; name a readable TOML file";
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return used > kMostFile ? "is larger than 1 MiB, which no file of rules is; name another"
                          : nullptr;
}

std::uint64_t hash_rule(std::uint64_t hash, const Rule& rule) {
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(rule.collective), static_cast<std::uint64_t>(rule.over),
        static_cast<std::uint64_t>(rule.room), static_cast<std::uint64_t>(rule.family),
        static_cast<std::uint64_t>(rule.handover), static_cast<std::uint64_t>(rule.attach),
        rule.ranks.low, rule.ranks.high, rule.nodes.low, rule.nodes.high, rule.bytes.low,
        rule.bytes.high, static_cast<std::uint64_t>(rule.choice.algorithm),
        static_cast<std::uint64_t>(rule.choice.chunk),
        static_cast<std::uint64_t>(rule.choice.radix)}) {
    hash = hash_value(value, hash);
  }
  return hash;
}

}  // namespace

bool parse_rules(std::string_view text, const std::string& name, RuleSet& out,
                 std::string& problem) {
  std::vector<RawRule> raw;
  TextProblem found;
  RuleSet read;
  bool good = read_toml(text, raw, found);
  for (std::size_t i = 0; good && i < raw.size(); ++i) {
    Rule rule;
    good = parse_rule(raw[i], rule, found);
    read.hash = hash_rule(read.hash, rule);
    read.rules.push_back(rule);
  }
  if (!good) {
    problem = name + ":" + std::to_string(found.line) + ": " + found.what;
    return false;
  }
  out = std::move(read);
  return true;
}

bool read_rules(const char* path, RuleSet& out, std::string& problem) {
  const std::string name = shown(path, 400);
  const File file(path);
  struct stat status;
  if (file.descriptor < 0 || fstat(file.descriptor, &status) != 0) {
    problem = name + ": cannot be opened: " + std::strerror(errno) + "; name a readable TOML file";
    return false;
  }
  std::string text;
  const char* unfit = why_unfit(status);
  if (!unfit) unfit = read_all(file, text);
  if (unfit) {
    problem = name + " " + unfit;
    return false;
  }
  return parse_rules(text, name, out, problem);
}

const char* name_of(Over over) {
  constexpr const char* kNames[] = {"shm", "p2p", "levels"};
  return kNames[static_cast<int>(over)];
}

Tuned tuned_of(Algorithm algorithm) {
  return algorithm == Algorithm::native ? Tuned::nothing : info_of(algorithm).tuned;
}

Choice default_choice(Algorithm algorithm) {
  Choice choice;
  choice.algorithm = algorithm;
  if (tuned_of(algorithm) == Tuned::chunk) choice.chunk = kDefaultChunk;
  return choice;
}

}  // namespace sumac

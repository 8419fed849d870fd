// SPDX-License-Identifier: BSD-3-Clause
#include "team/warnings.h"

#include <algorithm>

#include "base/hash.h"
#include "observe/log.h"

namespace sumac {
namespace {

// The hashes of the lines, in their order; 0 behind the last.
struct Hashes {
  std::uint64_t of[kMostKept] = {};

  bool holds(std::uint64_t hash) const {
    return std::find(of, of + kMostKept, hash) != of + kMostKept;
  }
};

Hashes own_hashes() {
  Hashes hashes;
  std::size_t used = 0;
  for (const std::string& line : kept_warnings()) hashes.of[used++] = hash_text(line);
  return hashes;
}

// Returns the rank of the communicator that has told its warnings already: the job's rank 0 or, if
// no rank knows its number in the job, rank 0 of the communicator. -1 means that it is none of
// them.
int first_rank(const std::vector<Hello>& hellos) {
  bool unknown = true;
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    if (hellos[r].job_rank == 0) return static_cast<int>(r);
    unknown &= hellos[r].job_rank < 0;
  }
  return unknown ? 0 : -1;
}

// Says, behind the slug, whose warning it is.
void tell(const std::string& line, int rank) {
  const std::size_t end = line.find("]: ") + 3;
  log_here("%s on rank %d: %s", line.substr(0, end - 1).c_str(), rank, line.substr(end).c_str());
}

void tell_differences(Team& team, int first) {
  const Hashes own = own_hashes();
  std::vector<Hashes> all(static_cast<std::size_t>(team.size));
  team.oob.all_gather(&own, all.data(), sizeof own);
  if (team.rank == first) return;
  const std::vector<std::string>& lines = kept_warnings();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool told = all[static_cast<std::size_t>(first)].holds(own.of[i]);
    for (int r = 0; r < team.rank && !told; ++r)
      told = all[static_cast<std::size_t>(r)].holds(own.of[i]);
    if (!told) tell(lines[i], log_rank() >= 0 ? log_rank() : team.rank);
  }
}

}  // namespace

std::uint64_t kept_warnings_hash() {
  std::uint64_t hash = 0;
  for (const std::string& line : kept_warnings()) hash = hash_text(line, hash);
  return hash;
}

void tell_kept_warnings(Team& team, const std::vector<Hello>& hellos) {
  const int first = first_rank(hellos);
  if (first < 0) return;
  if (log_rank() < 0)
    set_log(static_cast<Level>(team.context.options.debug), team.rank);  // tells those of rank 0
  const bool differ = std::any_of(hellos.begin(), hellos.end(), [&](const Hello& hello) {
    return hello.warnings != hellos[0].warnings;
  });
  if (differ) tell_differences(team, first);
  if (log_rank() != 0) forget_kept_warnings();
}

}  // namespace sumac

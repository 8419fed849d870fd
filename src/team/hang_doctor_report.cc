// SPDX-License-Identifier: BSD-3-Clause
#include "team/hang_doctor_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace sumac {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kMostListed = 8;

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) / kSecond; }

// Returns a list such as "0, 1, 2 and 5 more".
std::string list_of(const std::vector<const SeenRank*>& ranks, int RankStatus::*number) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kMostListed; ++i) {
    text += (i ? ", " : "") + std::to_string(ranks[i]->status.*number);
  }
  if (ranks.size() > kMostListed) {
    text += " and " + std::to_string(ranks.size() - kMostListed) + " more";
  }
  return text;
}

const char* state_of(const SeenRank& rank) {
  switch (rank.state) {
    case 'T':
      return "is stopped (SIGSTOP)";
    case 't':
      return "is stopped by a debugger";
    case 'D':
      return rank.swapped > 0 ? "waits for a disk, and is swapped out in part" : "waits for a disk";
    case 'Z':
    case 'X':
      return "has ended";
    case 'R':
      return "runs";
    default:
      return "sleeps";
  }
}

std::string line_of_waiting(const std::vector<const SeenRank*>& ranks, std::uint64_t now) {
  const SeenRank* longest = ranks[0];
  for (const SeenRank* rank : ranks) {
    if (rank->status.since_ns < longest->status.since_ns) longest = rank;
  }
  const RankStatus& status = longest->status;
  char text[640];
  std::snprintf(text, sizeof text,
                "rank %s (process %s) waits for %.0f s in %s of %llu bytes, call %llu on %s of %d "
                "ranks, %s; not arrived there: rank %s",
                list_of(ranks, &RankStatus::job_rank).c_str(),
                list_of(ranks, &RankStatus::pid).c_str(), seconds_of(now - status.since_ns),
                status.collective, static_cast<unsigned long long>(status.bytes),
                static_cast<unsigned long long>(status.nth), status.communicator, status.ranks,
                status.algorithm, status.missing);
  return text;
}

std::string line_of_other(const SeenRank& rank, std::uint64_t now) {
  const RankStatus& status = rank.status;
  char text[320];
  int used = std::snprintf(text, sizeof text, "rank %d (process %d) %s and is in no collective",
                           status.job_rank, status.pid, state_of(rank));
  const bool stopped = rank.state == 'T' || rank.state == 't';
  if (stopped && status.fresh_ns > 0) {
    std::snprintf(text + used, sizeof text - static_cast<std::size_t>(used),
                  ", or in one: %.0f s ago it waited in %s on %s",
                  seconds_of(now - status.fresh_ns), status.collective, status.communicator);
  }
  return text;
}

}  // namespace

bool is_to_report(const std::vector<SeenRank>& ranks, const RankStatus& own, std::uint64_t now,
                  std::uint64_t limit_ns) {
  return std::none_of(ranks.begin(), ranks.end(), [&](const SeenRank& rank) {
    const RankStatus& other = rank.status;
    if (other.pid == own.pid || !rank.waits(now)) return false;
    if (other.reported_ns >= other.since_ns) return true;
    const bool can = rank.state != 'T' && rank.state != 't';
    return can && other.job_rank < own.job_rank && now - other.since_ns + kFreshNs >= limit_ns;
  });
}

std::vector<std::string> report_lines(const std::vector<SeenRank>& ranks, std::uint64_t now) {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::string, std::string>;
  std::map<Key, std::vector<const SeenRank*>> waiting;
  std::vector<std::string> others;
  for (const SeenRank& rank : ranks) {
    const RankStatus& status = rank.status;
    if (rank.waits(now)) {
      waiting[{status.team, status.nth, status.collective, status.missing}].push_back(&rank);
    } else {
      others.push_back(line_of_other(rank, now));
    }
  }
  std::vector<std::string> lines;
  for (const auto& [key, alike] : waiting) lines.push_back(line_of_waiting(alike, now));
  if (others.size() > kMostListed) {
    const std::size_t more = others.size() - kMostListed;
    others.resize(kMostListed);
    others.push_back("and " + std::to_string(more) + " more ranks are in no collective");
  }
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}

}  // namespace sumac

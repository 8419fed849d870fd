// SPDX-License-Identifier: BSD-3-Clause
#include "team/hello.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/launch.h"
#include "machine/liveness.h"
#include "machine/location.h"
#include "observe/log.h"
#include "team/warnings.h"

namespace sumac {
namespace {

std::uint64_t agreed_hash(const Context& context, const std::string& hierarchy) {
  const std::uint64_t hash = sumac_options_hash(&context.options) ^ context.rules.hash;
  return hierarchy.empty() ? hash : hash_text(hierarchy, hash);
}

// Reading /sys takes several files for each processor, so it is repeated only when the process has
// been bound to other processors.
Location location_now(const CpuMask& cpus) {
  static std::mutex mutex;
  static CpuMask known;
  static Location location;
  const std::lock_guard<std::mutex> lock(mutex);
  if (std::memcmp(&known, &cpus, sizeof cpus) != 0) {
    location = location_of("", cpus);
    known = cpus;
  }
  return location;
}

Place own_place(const sumac_options& options, const CpuMask& cpus) {
  Place place{};
  place.node = node_id();
  place.at = location_now(cpus);
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  classify(options.slow_hosts, static_cast<int>(options.rank_class), name, place);
  return place;
}

}  // namespace

Hello own_hello(const Context& context, const std::string& hierarchy) {
  Hello hello{};
  hello.options = agreed_hash(context, hierarchy);
  hello.process = context.process;
  static std::atomic<std::uint64_t> serials{0};
  hello.serial = ++serials;
  hello.machine = machine_id();
  hello.probe = own_attach_probe();
  hello.cpus = own_cpus();
  hello.place = own_place(context.options, hello.cpus);
  hello.pid = getpid();
  hello.pid_namespace = pid_namespace();
  static const std::uint64_t begin = watch(hello.pid).begin;
  hello.begin = begin;
  hello.job_ranks_on_node = sumac_launch_ranks_on_node();
  hello.cpu_quota = cpu_quota();
  sumac_report report{};
  sumac_parse_report(context.options.stats, &report);
  hello.gathers = report.all_ranks;
  hello.job_rank = log_rank();
  hello.warnings = kept_warnings_hash();
  return hello;
}

namespace {

// The ranks of a machine and its processors, by affinity masks, control groups and the size of the
// whole job there. Nodes may be containers of one machine and share its processors.
struct Crowd {
  int here = 0;    // ranks of the communicator on the machine
  int of_job = 0;  // ranks of the job on the machine, as the launcher tells; 0: not known
  int quota = 0;   // processors that their control group allows; 0: no limit
  CpuMask cpus;    // processors that the masks of these ranks have

  void add(const Brief& brief) {
    ++here;
    cpus.add(brief.cpus);
    of_job = std::max(of_job, brief.job_ranks_on_node);
    if (brief.cpu_quota > 0 && (quota == 0 || brief.cpu_quota < quota)) quota = brief.cpu_quota;
  }
  // Ranks of the job on the machine, as far as is known.
  int ranks() const { return std::max(here, of_job); }
  // Processors that the control group leaves of those in the masks.
  int processors() const { return quota > 0 ? std::min(cpus.count(), quota) : cpus.count(); }
  // If a part of the job's ranks is bound to processors of its own, that says nothing about the
  // others.
  bool tells_of_all() const { return ranks() > here && cpus.count() > here; }
  // Returns true if there are more ranks than processors.
  bool oversubscribed() const {
    return here > processors() || (tells_of_all() && ranks() > processors());
  }
  // Returns true if there are at least two processors for each of the job's ranks, by what is known
  // of them.
  bool has_spare() const { return processors() >= 2 * ranks(); }
};

}  // namespace

Placement placement_of(const std::vector<Brief>& briefs) {
  std::unordered_map<std::uint64_t, Crowd> crowds;  // indexed by machine
  for (const Brief& brief : briefs) crowds[brief.machine].add(brief);
  std::unordered_map<std::uint64_t, std::pair<bool, bool>> judged;
  for (const auto& [machine, crowd] : crowds) {
    judged[machine] = {crowd.oversubscribed(), crowd.has_spare()};
  }
  std::vector<PlacedRank> ranks;
  ranks.reserve(briefs.size());
  for (const Brief& brief : briefs) {
    const auto [oversubscribed, spare] = judged[brief.machine];
    ranks.push_back({brief.place, brief.machine, oversubscribed, spare});
  }
  return Placement(ranks);
}

}  // namespace sumac

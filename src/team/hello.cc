// SPDX-License-Identifier: BSD-3-Clause
#include "team/hello.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

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

bool can_agree(const std::vector<Hello>& hellos, Reason& reason) {
  const Hello& first = hellos[0];
  for (const Hello& hello : hellos) {
    if (hello.options != first.options)
      reason = Reason::options_differ;
    else if (hello.types != first.types)
      reason = Reason::types_differ;
    else if (hello.accelerator)
      reason = Reason::device;
    else
      continue;
    return false;
  }
  return true;
}

namespace {

// The ranks of a machine and its processors, by affinity masks, control groups and the size of the
// whole job there. Nodes may be containers of one machine and share its processors.
struct Crowd {
  int here = 0;        // ranks of the communicator on the machine
  int ranks = 0;       // ranks of the job on the machine, as far as is known
  int masked = 0;      // processors that the masks of these ranks have
  int processors = 0;  // processors that their control group leaves of these

  // If a part of the job's ranks is bound to processors of its own, that says nothing about the
  // others.
  bool tells_of_all() const { return ranks > here && masked > here; }
  // Returns true if there are more ranks than processors.
  bool oversubscribed() const {
    return here > processors || (tells_of_all() && ranks > processors);
  }
  // Returns true if there are at least two processors for each of the job's ranks, by what is known
  // of them.
  bool has_spare() const { return processors >= 2 * ranks; }
};

Crowd crowd_of(const std::vector<Hello>& hellos, int rank) {
  const Hello& own = hellos[static_cast<std::size_t>(rank)];
  Crowd crowd;
  CpuMask together;
  int of_job = 0, quota = 0;
  for (const Hello& hello : hellos) {
    if (hello.machine != own.machine) continue;
    ++crowd.here;
    together.add(hello.cpus);
    of_job = std::max(of_job, hello.job_ranks_on_node);
    if (hello.cpu_quota > 0 && (quota == 0 || hello.cpu_quota < quota)) quota = hello.cpu_quota;
  }
  crowd.masked = crowd.processors = together.count();
  if (quota > 0) crowd.processors = std::min(crowd.processors, quota);
  crowd.ranks = std::max(crowd.here, of_job);
  return crowd;
}

}  // namespace

TeamSpec spec_of(const std::vector<Hello>& hellos, Family family) {
  TeamSpec spec;
  spec.family = family;
  std::unordered_map<std::uint64_t, Crowd> crowds;  // indexed by machine
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    const auto [crowd, is_new] = crowds.try_emplace(hellos[r].machine);
    if (is_new) crowd->second = crowd_of(hellos, static_cast<int>(r));
    spec.places.push_back(hellos[r].place);
    spec.oversubscribed.push_back(crowd->second.oversubscribed());
    spec.spare.push_back(crowd->second.has_spare());
  }
  return spec;
}

}  // namespace sumac

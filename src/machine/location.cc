// SPDX-License-Identifier: BSD-3-Clause
#include "machine/location.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>

#include "base/hash.h"
#include "base/text.h"

namespace sumac {
namespace {

constexpr int kMostCpus = kMaskWords * 64;
constexpr int kMostCaches = 16;  // caches of one processor

// A set of processors read from a file. `first` is -1 if the set is empty.
struct CpuList {
  CpuMask mask;
  int first = -1;

  void add(int from, int to) {
    if (first < 0 || from < first) first = from;
    for (int cpu = from; cpu <= to && cpu < kMostCpus; ++cpu) {
      mask.words[cpu / 64] |= std::uint64_t{1} << cpu % 64;
    }
  }
  bool holds(const CpuMask& other) const {
    for (int i = 0; i < kMaskWords; ++i) {
      if (other.words[i] & ~mask.words[i]) return false;
    }
    return true;
  }
};

// Returns the first line of a file of /sys, or an empty text if there is no such file.
std::string read_line(const std::string& path) {
  std::string text;
  char part[256];
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    while (std::fgets(part, sizeof part, file)) {
      text += part;
      if (text.back() == '\n') break;
    }
    std::fclose(file);
  }
  return text.substr(0, text.find('\n'));
}

bool parse_cpu(std::string_view text, int& cpu) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  return error == std::errc() && end == text.data() + text.size() && cpu >= 0;
}

// Parses a file such as "0-3,8". Returns an empty set if the file is missing or has another form.
CpuList read_cpus(const std::string& path) {
  const std::string line = read_line(path);
  CpuList list;
  for (std::string_view rest = line; !rest.empty();) {
    std::string_view range = take_word(rest, ',');
    const std::string_view from = take_word(range, '-');
    const std::string_view to = range.empty() ? from : range;
    int first = 0, last = 0;
    if (!parse_cpu(from, first) || !parse_cpu(to, last)) return {};
    list.add(first, last);
  }
  return list;
}

int lowest_cpu(const CpuMask& cpus) {
  for (int i = 0; i < kMaskWords; ++i) {
    if (cpus.words[i]) return i * 64 + __builtin_ctzll(cpus.words[i]);
  }
  return -1;
}

int number_of(const CpuList& object, const CpuMask& cpus) {
  return object.holds(cpus) ? object.first : -1;
}

// Kernels have used two names for each of these files.
int object_number(const std::string& topology, const char* name, const char* older_name,
                  const CpuMask& cpus) {
  const CpuList list = read_cpus(topology + name);
  return number_of(list.first < 0 ? read_cpus(topology + older_name) : list, cpus);
}

void find_caches(const std::string& cpu, const CpuMask& cpus, Location& at) {
  for (int k = 0; k < kMostCaches; ++k) {
    const std::string cache = cpu + "cache/index" + std::to_string(k) + "/";
    const std::string level = read_line(cache + "level");
    if (level.empty()) return;
    if (read_line(cache + "type") == "Instruction") continue;
    if (level == "2") at.l2 = number_of(read_cpus(cache + "shared_cpu_list"), cpus);
    if (level == "3") at.l3 = number_of(read_cpus(cache + "shared_cpu_list"), cpus);
  }
}

// Returns the number of the NUMA domain that holds all the processors.
int numa_number(const std::string& folder, const CpuMask& cpus) {
  int number = -1;
  DIR* nodes = opendir(folder.c_str());
  if (!nodes) return number;
  while (const dirent* entry = number < 0 ? readdir(nodes) : nullptr) {
    const std::string_view name = entry->d_name;
    int node = 0;
    if (!name.starts_with("node") || !parse_cpu(name.substr(4), node)) continue;
    number = number_of(read_cpus(folder + entry->d_name + "/cpulist"), cpus);
  }
  closedir(nodes);
  return number;
}

}  // namespace

Location location_of(const char* root, const CpuMask& cpus) {
  Location at;
  const int lowest = lowest_cpu(cpus);
  if (lowest < 0) return at;
  const std::string system = std::string(root) + "/sys/devices/system/";
  const std::string cpu = system + "cpu/cpu" + std::to_string(lowest) + "/";
  at.core = object_number(cpu + "topology/", "core_cpus_list", "thread_siblings_list", cpus);
  at.package = object_number(cpu + "topology/", "package_cpus_list", "core_siblings_list", cpus);
  find_caches(cpu, cpus, at);
  at.numa = numa_number(system + "node/", cpus);
  return at;
}

std::size_t cache_share(const char* root, const CpuMask& cpus) {
  std::size_t share = 0;
  const std::string cpu =
      std::string(root) + "/sys/devices/system/cpu/cpu" + std::to_string(lowest_cpu(cpus)) + "/";
  for (int k = 0; k < kMostCaches; ++k) {
    const std::string cache = cpu + "cache/index" + std::to_string(k) + "/";
    unsigned long kilobytes = 0;
    if (std::sscanf(read_line(cache + "size").c_str(), "%luK", &kilobytes) != 1) break;
    const int sharing = read_cpus(cache + "shared_cpu_list").mask.count();
    if (sharing > 0) share = std::max<std::size_t>(share, kilobytes * 1024 / sharing);
  }
  return share;
}

namespace {

// Removes the domain from a host's name; addresses are left as they are.
std::string_view without_domain(std::string_view host) {
  if (host.find_first_not_of("0123456789.") == host.npos) return host;
  return host.substr(0, host.find('.'));
}

// Matches a pattern in which * stands for any characters and ? for one.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;  // the star takes one letter more
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace

void classify(std::string_view slow_hosts, int forced_class, const char* host_name, Place& place) {
  constexpr int kFast = 1, kSlow = 2;
  const std::string_view host = host_name, short_host = without_domain(host);
  place.host = hash_text(short_host);
  place.attached = 0;
  place.slow = forced_class == kSlow;
  while (!slow_hosts.empty() && forced_class != kFast) {
    std::string_view owner = take_word(slow_hosts, ',');
    const std::string_view pattern = take_word(owner, '@');
    if (pattern.empty() || !(matches(pattern, host) || matches(pattern, short_host))) continue;
    place.slow = true;
    owner = trimmed(owner);
    if (!owner.empty()) place.attached = hash_text(without_domain(owner));
    return;
  }
}

}  // namespace sumac

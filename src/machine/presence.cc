// SPDX-License-Identifier: BSD-3-Clause
#include "machine/presence.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "base/switch_word.h"

namespace sumac {
namespace {

constexpr std::string_view kBackEnd = "/libsumac-", kMpi = "/libmpi";

struct Process {
  pid_t parent = 0;
  std::string name;
  std::string environment;  // NAME=VALUE\0...
  int rank = -1;            // of the job below, where the environment tells
  std::string job;          // empty: the environment tells none
};
using Processes = std::map<pid_t, Process>;

// Reads a whole file. Returns false where it cannot be read.
bool read_all(const std::string& path, std::string& text) {
  text.clear();
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::vector<char> part(16384);
  ssize_t got = 0;
  while ((got = read(file, part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<size_t>(got));
  }
  close(file);
  return got == 0;
}

// The variable's value; empty where it is not set.
std::string_view value_of(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
  }
  return {};
}

int number(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return -1;
  return std::atoi(std::string(text).c_str());
}

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) (text += part) += ' ';
  return text;
}

// Hydra names a job nowhere in the environment. Each job has a proxy of its own on each node, and
// its processes are the proxy's children.
pid_t hydra_proxy_of(const Processes& processes, const Process& process) {
  auto at = processes.find(process.parent);
  for (std::size_t i = 0; at != processes.end() && i < processes.size(); ++i) {
    if (at->second.name == "hydra_pmi_proxy") return at->first;
    at = processes.find(at->second.parent);
  }
  return 0;
}

void learn_job(const Processes& processes, Process& process) {
  const auto value = [&](const char* name) { return value_of(process.environment, name); };
  const std::string_view space = value("PMIX_NAMESPACE");
  const std::string_view of_openmpi = value("OMPI_COMM_WORLD_RANK");
  if (!value("MPI_LOCALRANKID").empty() && !value("PMI_RANK").empty()) {
    const pid_t proxy = hydra_proxy_of(processes, process);
    if (proxy == 0) return;
    process.job = join({"hydra", std::to_string(proxy)});
    process.rank = number(value("PMI_RANK"));
  } else if (!space.empty()) {
    process.job = join({"pmix", space, value("PMIX_SERVER_URI2")});
    process.rank = number(of_openmpi.empty() ? value("PMIX_RANK") : of_openmpi);
  } else if (!of_openmpi.empty()) {
    if (value("OMPI_MCA_ess_base_jobid").empty()) return;
    process.job = join({"orte", value("OMPI_MCA_ess_base_jobid")});
    process.rank = number(of_openmpi);
  } else if (!value("SLURM_STEP_ID").empty()) {
    process.job = join({"slurm", value("SLURM_JOB_ID"), value("SLURM_STEP_ID")});
    process.rank = number(value("SLURM_PROCID"));
  }
}

bool read_process(const std::string& directory, Process& process) {
  std::string stat;
  if (!read_all(directory + "/stat", stat)) return false;
  // 1234 (name) S 1 ...: the name may have blanks and parentheses in it.
  const std::size_t begin = stat.find('('), end = stat.rfind(')');
  if (begin == stat.npos || end == stat.npos || end + 4 > stat.size()) return false;
  if (stat[end + 2] == 'Z' || stat[end + 2] == 'X') return false;
  process.name = stat.substr(begin + 1, end - begin - 1);
  process.parent = static_cast<pid_t>(std::atoi(stat.c_str() + end + 4));
  read_all(directory + "/environ", process.environment);
  return true;
}

// The processes of this process's user.
Processes read_processes(const std::string& proc) {
  Processes processes;
  DIR* directory = opendir(proc.c_str());
  if (!directory) return processes;
  const uid_t user = geteuid();
  while (const dirent* entry = readdir(directory)) {
    const int pid = number(entry->d_name);
    if (pid <= 0) continue;
    const std::string path = proc + "/" + entry->d_name;
    struct stat about = {};
    if (stat(path.c_str(), &about) != 0 || about.st_uid != user) continue;
    Process process;
    if (read_process(path, process)) processes.emplace(pid, std::move(process));
  }
  closedir(directory);
  for (auto& [pid, process] : processes) learn_job(processes, process);
  return processes;
}

// The process itself, or the nearest one above it, whose environment says which job it belongs to:
// a process may have changed or dropped its own. Null where there is none.
const Process* who_tells(const Processes& processes, const Process& process) {
  const Process* at = &process;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (!at->job.empty()) return at;
    const auto above = processes.find(at->parent);
    if (above == processes.end()) return nullptr;
    at = &above->second;
  }
  return nullptr;
}

// The command line of a process, for messages.
std::string command_of(const std::string& directory, const Process& process) {
  constexpr std::size_t kMost = 80;
  std::string command;
  read_all(directory + "/cmdline", command);
  while (!command.empty() && command.back() == '\0') command.pop_back();
  for (char& c : command) {
    if (c >= '\0' && c < ' ') c = ' ';
  }
  if (command.empty()) return process.name;
  if (command.size() > kMost) command.replace(kMost, command.npos, "...");
  return command;
}

// Calls visit(file, modes) for each mapped file; `file` is the part of its name after the last
// slash.
template <class Visit>
void for_each_file(std::string_view maps, Visit visit) {
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    // address perms offset device inode path
    const std::size_t path = line.find('/'), modes = line.find(' ') + 1;
    if (path != line.npos && modes + 4 <= path) {
      visit(line.substr(line.rfind('/')), line.substr(modes, 4));
    }
  }
}

std::string directory_of(const std::string& proc, pid_t pid) {
  return proc + "/" + std::to_string(pid);
}

// True when an MPI library is mapped executable: debuggers map other processes' libraries too, to
// read their symbols.
bool runs_mpi(std::string_view maps) {
  bool found = false;
  for_each_file(maps, [&](std::string_view file, std::string_view modes) {
    found = found || (file.starts_with(kMpi) && modes[2] == 'x');
  });
  return found;
}

// Adds to `rank` what one of its processes shows.
void look_into(const std::string& proc, pid_t pid, const Process& process, JobRank& rank) {
  const std::string directory = directory_of(proc, pid);
  std::string maps;
  if (!read_all(directory + "/maps", maps)) {
    rank.unknown = true;
    return;
  }
  bool has_mpi = false, loaded = false;
  for_each_file(maps, [&](std::string_view file, std::string_view modes) {
    if (file.starts_with(kBackEnd) && modes == "r--s") rank.served = true;
    if (file.starts_with("/libsumac.so")) loaded = true;
    if (file.starts_with(kMpi)) has_mpi = true;
  });
  const std::string disable(value_of(process.environment, "SUMAC_DISABLE"));
  if (sumac_switch_word(disable.c_str()) == 1) rank.disabled = true;
  if (rank.pid == 0 || (has_mpi && !rank.has_mpi)) {
    rank.pid = pid;
    rank.command = command_of(directory, process);
    rank.loaded = loaded;
  }
  rank.has_mpi |= has_mpi;
}

}  // namespace

bool mark_as_served(const void* address) {
  Dl_info own;
  if (dladdr(address, &own) == 0) return false;
  const int file = open(own.dli_fname, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const long page = sysconf(_SC_PAGESIZE);
  void* mark = mmap(nullptr, static_cast<std::size_t>(page), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return mark != MAP_FAILED;
}

const JobRank* JobOnNode::find(int rank) const {
  const auto at =
      std::lower_bound(ranks.begin(), ranks.end(), rank,
                       [](const JobRank& one, int wanted) { return one.rank < wanted; });
  return at != ranks.end() && at->rank == rank ? &*at : nullptr;
}

JobOnNode look_at_job(const char* proc, pid_t self) {
  const Processes processes = read_processes(proc);
  const auto own = processes.find(self ? self : getpid());
  if (own == processes.end()) return {};
  const Process* own_teller = who_tells(processes, own->second);
  if (!own_teller) return {};
  std::map<int, JobRank> ranks;
  for (const auto& [pid, process] : processes) {
    const Process* teller = who_tells(processes, process);
    if (!teller || teller->job != own_teller->job || teller->rank < 0) continue;
    JobRank& rank = ranks[teller->rank];
    rank.rank = teller->rank;
    look_into(proc, pid, process, rank);
  }
  JobOnNode job;
  for (auto& [number, rank] : ranks) {
    if (!rank.unknown || rank.served) job.ranks.push_back(std::move(rank));
  }
  const JobRank* seen = job.find(own_teller->rank);
  if (!seen || !seen->served) return {};
  job.own = own_teller->rank;
  return job;
}

bool started_by_rank(const char* variable, const char* proc, pid_t self) {
  Process process;
  process.parent = self ? self : getpid();
  std::string directory = directory_of(proc, process.parent), maps;
  if (!read_process(directory, process)) return false;
  while (process.parent > 1) {
    directory = directory_of(proc, process.parent);
    struct stat about = {};
    if (stat(directory.c_str(), &about) != 0 || about.st_uid != geteuid()) return false;
    if (!read_process(directory, process)) return false;
    if (value_of(process.environment, variable).empty()) return false;
    if (read_all(directory + "/maps", maps) && runs_mpi(maps)) return true;
  }
  return false;
}

}  // namespace sumac

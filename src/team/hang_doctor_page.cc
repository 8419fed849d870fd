// SPDX-License-Identifier: BSD-3-Clause
#include "team/hang_doctor_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "base/descriptor.h"
#include "base/versioned.h"
#include "base/write_signals.h"
#include "observe/log.h"

namespace sumac {
namespace {

// The mutex protects this process's page.
std::mutex& page_mutex() {
  static std::mutex mutex;
  return mutex;
}

// The file stays open: others find it by its descriptor.
RankStatus* make_page() {
  const int file = make_memory_file(kStatusFile);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  const WithoutWriteSignals without;
  if (ftruncate(file, sizeof(RankStatus)) == 0) {
    memory = mmap(nullptr, sizeof(RankStatus), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  madvise(memory, sizeof(RankStatus), MADV_DONTFORK);
  auto* page = static_cast<RankStatus*>(memory);
  std::memcpy(page->magic, kStatusMagic, sizeof page->magic);
  page->pid = getpid();
  gethostname(page->host, sizeof page->host - 1);
  return page;
}

bool read_bytes(int file, void* to, std::size_t bytes, std::size_t at) {
  return pread(file, to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
}

// Reads a page that its owner may be writing. If the owner was stopped while it wrote, the page
// tells who it is, but of no wait. Returns false if there is no page, or one of another version.
bool read_page(const std::string& path, RankStatus& status) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool good = true, whole = false;
  const auto version = [&] {
    std::uint64_t number = 1;
    good &= read_bytes(file, &number, sizeof number, offsetof(RankStatus, version));
    return number;
  };
  const auto copy = [&] { good &= read_bytes(file, &status, sizeof status, 0); };
  for (int tries = 0; tries < 100 && good && !whole; ++tries) whole = read_whole(version, copy);
  close(file);
  if (!whole) status.since_ns = status.fresh_ns = 0;
  return good && std::memcmp(status.magic, kStatusMagic, sizeof status.magic) == 0;
}

std::string read_text(const std::string& path) {
  char text[2048];
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t got = read(file, text, sizeof text);
  close(file);
  return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
}

void ask_kernel(const std::string& process, SeenRank& seen) {
  // The name of the command may have parentheses in it.
  const std::string stat = read_text(process + "/stat"), status = read_text(process + "/status");
  const std::size_t end = stat.rfind(')'), swap = status.find("VmSwap:");
  if (end != stat.npos && end + 2 < stat.size()) seen.state = stat[end + 2];
  if (swap != status.npos)
    seen.swapped = std::strtoull(status.c_str() + swap + 7, nullptr, 10) << 10;
}

// Finds the page of a process, which a forked child has open too.
bool find_page(const std::string& process, int pid, SeenRank& seen) {
  DIR* descriptors = opendir((process + "/fd").c_str());
  if (!descriptors) return false;
  bool found = false;
  while (const dirent* entry = found ? nullptr : readdir(descriptors)) {
    const std::string path = process + "/fd/" + entry->d_name;
    char target[64] = "";
    if (readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
    if (!std::strstr(target, kStatusFile)) continue;
    found = read_page(path, seen.status) && seen.status.pid == pid;
  }
  closedir(descriptors);
  return found;
}

}  // namespace

SeenRank& SeenRank::operator=(const SeenRank& other) {
  std::memcpy(static_cast<void*>(&status), &other.status, sizeof status);
  state = other.state;
  swapped = other.swapped;
  return *this;
}

RankStatus* own_page() {
  static RankStatus* const page = make_page();
  return page;
}

PageWriting::PageWriting(RankStatus& page) : lock_(page_mutex()), page_(page) {
  begin_writing(page_.version);
}
PageWriting::~PageWriting() { end_writing(page_.version); }

void note_job(std::uint64_t job, int job_ranks) {
  RankStatus* const page = own_page();
  if (!page) return;
  const PageWriting writing(*page);
  if (job != 0) page->job = job, page->job_ranks = job_ranks;
  page->job_rank = log_rank();
}

SeenRank seen_self() {
  SeenRank self;
  const RankStatus* const page = own_page();
  if (!page) return self;
  const std::lock_guard<std::mutex> lock(page_mutex());
  std::memcpy(static_cast<void*>(&self.status), page, sizeof *page);
  return self;
}

std::vector<SeenRank> seen_ranks() {
  std::vector<SeenRank> ranks;
  const std::uint64_t job = seen_self().status.job;
  DIR* processes = own_page() ? opendir("/proc") : nullptr;
  if (!processes) return ranks;
  while (const dirent* entry = readdir(processes)) {
    const int pid = std::atoi(entry->d_name);
    const std::string process = "/proc/" + std::to_string(pid);
    struct stat about = {};
    if (pid <= 0 || stat(process.c_str(), &about) != 0 || about.st_uid != geteuid()) continue;
    SeenRank seen;
    if (!find_page(process, pid, seen) || seen.status.job != job) continue;
    ask_kernel(process, seen);
    ranks.push_back(seen);
  }
  closedir(processes);
  std::sort(ranks.begin(), ranks.end(), [](const SeenRank& a, const SeenRank& b) {
    return a.status.job_rank < b.status.job_rank;
  });
  return ranks;
}

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

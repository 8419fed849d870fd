// SPDX-License-Identifier: BSD-3-Clause
#include "machine/own_processors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "base/cpu.h"
#include "base/process_stat.h"

namespace sumac {
namespace {

constexpr const char* kThreads = "/proc/self/task";
// A folder has this many links besides those of the folders in it.
constexpr int kOwnLinks = 2;
constexpr std::uint64_t kOtherTimePerCount = 64;  // in units of the time that a count takes

std::atomic<int> own_processors{1};
std::atomic<std::uint64_t> next_count_ns{0};
std::atomic<bool> crowded{false};

bool is_runnable(const char* thread) {
  sumac_process_stat found;
  return sumac_read_process_stat(kThreads, std::atoi(thread), &found) && found.state == 'R';
}

// Calls visit(name) for each entry until it returns false. Allocates nothing, unlike readdir().
template <class Visit>
void for_each_entry(int folder, Visit visit) {
  struct Entry {  // the kernel's struct linux_dirent64
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[1];
  };
  alignas(Entry) char entries[1024];
  for (;;) {
    const long bytes = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (bytes <= 0) return;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      if (entry->name[0] != '.' && !visit(entry->name)) return;
      at += entry->bytes;
    }
  }
}

}  // namespace

void set_own_processors(int processors) { own_processors = std::max(1, processors); }

int count_runnable_threads(int enough) {
  struct stat about;
  if (stat(kThreads, &about) != 0) return 1;
  if (about.st_nlink <= kOwnLinks + 1) return 1;
  const int folder = open(kThreads, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 1;
  int runnable = 0;
  for_each_entry(folder, [&](const char* thread) {
    runnable += is_runnable(thread);
    return runnable < enough;
  });
  close(folder);
  return std::max(1, runnable);
}

bool process_is_crowded(std::uint64_t now_ns) {
  std::uint64_t next = next_count_ns.load(std::memory_order_relaxed);
  // A thread that counts takes the turn of the others.
  if (now_ns < next || !next_count_ns.compare_exchange_strong(next, UINT64_MAX)) {
    return crowded.load(std::memory_order_relaxed);
  }
  const int error = errno;
  const int own = own_processors.load(std::memory_order_relaxed);
  crowded.store(count_runnable_threads(own + 1) > own, std::memory_order_relaxed);
  errno = error;
  const std::uint64_t counted_ns = clock_ns();
  next_count_ns.store(counted_ns + kOtherTimePerCount * (counted_ns - now_ns));
  return crowded.load(std::memory_order_relaxed);
}

namespace {

bool meet(const CpuMask& a, const CpuMask& b) {
  for (int w = 0; w < kMaskWords; ++w) {
    if (a.words[w] & b.words[w]) return true;
  }
  return false;
}

}  // namespace

double share_of_processors(const CpuMask& own, const std::vector<CpuMask>& others, int unknown) {
  std::vector<const CpuMask*> sharers;
  for (const CpuMask& other : others) {
    if (meet(own, other)) sharers.push_back(&other);
  }
  if (!others.empty() && sharers.empty()) unknown = 0;
  double processors = 0;
  for (int w = 0; w < kMaskWords; ++w) {
    for (std::uint64_t left = own.words[w]; left != 0; left &= left - 1) {
      const std::uint64_t processor = left & -left;
      int ranks = 1 + unknown;
      for (const CpuMask* other : sharers) ranks += (other->words[w] & processor) != 0;
      processors += 1.0 / ranks;
    }
  }
  const int all = own.count();
  return all > 0 ? processors / all : 1;
}

}  // namespace sumac

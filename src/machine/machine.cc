// SPDX-License-Identifier: BSD-3-Clause
#include "machine/machine.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/hash.h"

namespace sumac {
namespace {

// Reads a small file; the text is empty on failure.
struct SmallFile {
  char text[256] = {};

  explicit SmallFile(const char* path) {
    if (std::FILE* file = std::fopen(path, "re")) {
      const std::size_t got = std::fread(text, 1, sizeof text - 1, file);
      text[got] = 0;
      std::fclose(file);
    }
  }
};

}  // namespace

CpuMask own_cpus() {
  CpuMask mask;
  cpu_set_t set;
  static_assert(sizeof set == sizeof mask.words);
  if (sched_getaffinity(0, sizeof set, &set) == 0) std::memcpy(mask.words, &set, sizeof set);
  return mask;
}

int cpu_quota() {
  // The file reads "max 100000", or "200000 100000" for two processors.
  const SmallFile file("/sys/fs/cgroup/cpu.max");
  long quota = 0, period = 0;
  if (std::sscanf(file.text, "%ld %ld", &quota, &period) != 2 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

std::uint64_t machine_id() {
  static const std::uint64_t id = hash_text(SmallFile("/proc/sys/kernel/random/boot_id").text);
  return id;
}

std::uint64_t node_id() {
  struct stat shm = {};
  if (stat("/dev/shm", &shm) != 0) shm = {};
  // Ranks open each other's segments by process number.
  struct stat pids = {};
  if (stat("/proc/self/ns/pid", &pids) != 0) pids = {};
  const uid_t user = geteuid();
  const std::uint64_t memory = hash_value(shm.st_ino, hash_value(shm.st_dev, machine_id()));
  return hash_value(user, hash_value(pids.st_ino, memory));
}

}  // namespace sumac

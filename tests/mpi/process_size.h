// SPDX-License-Identifier: BSD-3-Clause
// How many mappings, descriptors and how much memory this process has, memory of its file of shared
// pages included: what must not grow with the number of buffers.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

namespace test {

struct ProcessSize {
  long mappings = 0, kilobytes = 0, descriptors = 0;
};

// Of the file that holds promoted memory, also of pages that nobody maps any more.
inline long kilobytes_of_memory_file(int directory, const char* name) {
  char target[256] = {};
  struct stat status {};
  if (readlinkat(directory, name, target, sizeof target - 1) < 0) return 0;
  if (!std::strstr(target, "memfd:sumac") || fstatat(directory, name, &status, 0) != 0) return 0;
  return static_cast<long>(status.st_blocks) / 2;
}

inline ProcessSize process_size() {
  ProcessSize now;
  char line[512];
  std::FILE* file = std::fopen("/proc/self/maps", "r");
  while (std::fgets(line, sizeof line, file)) now.mappings += std::strchr(line, '\n') != nullptr;
  std::fclose(file);
  file = std::fopen("/proc/self/status", "r");
  while (std::fgets(line, sizeof line, file)) std::sscanf(line, "VmRSS: %ld kB", &now.kilobytes);
  std::fclose(file);
  DIR* directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    ++now.descriptors;
    now.kilobytes += kilobytes_of_memory_file(dirfd(directory), entry->d_name);
  }
  closedir(directory);
  return now;
}

inline void expect_no_growth(const ProcessSize& before, const ProcessSize& after) {
  if (rank == 0) {
    std::printf("mappings %ld, then %ld; KiB %ld, then %ld; descriptors %ld, then %ld\n",
                before.mappings, after.mappings, before.kilobytes, after.kilobytes,
                before.descriptors, after.descriptors);
  }
  // What may be there at one time: the buffers of some calls, which the next sweep finds.
  constexpr long kMappings = 150, kKilobytes = 16384, kDescriptors = 4;
  CHECK(after.mappings <= before.mappings + kMappings, "%ld mappings, then %ld", before.mappings,
        after.mappings);
  CHECK(after.kilobytes <= before.kilobytes + kKilobytes, "%ld KiB, then %ld", before.kilobytes,
        after.kilobytes);
  CHECK(after.descriptors <= before.descriptors + kDescriptors, "%ld descriptors, then %ld",
        before.descriptors, after.descriptors);
}

}  // namespace test

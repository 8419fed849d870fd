// SPDX-License-Identifier: BSD-3-Clause
// Buffers that are used once each, with SUMAC_PROMOTE=auto or eager: neither mappings nor memory
// nor descriptors of the process grow with their number. direct_once BUFFERS
#include <dirent.h>
#include <sys/stat.h>

#include "cases.h"
#include "direct_memory.h"

namespace {

using namespace test;

struct Size {
  long mappings = 0, kilobytes = 0, descriptors = 0;
};

// Of the file that holds promoted memory, also of pages that nobody maps any more.
long kilobytes_of_memory_file(int directory, const char* name) {
  char target[256] = {};
  struct stat status {};
  if (readlinkat(directory, name, target, sizeof target - 1) < 0) return 0;
  if (!std::strstr(target, "memfd:sumac") || fstatat(directory, name, &status, 0) != 0) return 0;
  return static_cast<long>(status.st_blocks) / 2;
}

Size size() {
  Size now;
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

// Half of them live in mappings of their own, the others in the heap.
void use_once(long number) {
  constexpr std::size_t kCount = 9000;
  const std::size_t bytes = kCount * sizeof(int);
  Memory input(number % 2 ? Origin::map : Origin::malloc, bytes, pools()[0]);
  Memory output(number % 3 ? Origin::map : Origin::new_array, bytes, pools()[1]);
  Call call({.what = What::allreduce, .counts = {kCount}, .seed = static_cast<unsigned>(number)});
  call.use(input.at(), output.at());
  call.begin();
  call.check();
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  const long buffers = argc > 1 ? std::atol(argv[1]) : 1000;
  Size before;
  for (long i = 0; i < buffers; ++i) {
    step("buffer %ld", i);
    if (i == buffers / 4) before = size();
    use_once(i);
  }
  const Size after = size();
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
  return finish();
}

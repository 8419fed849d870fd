// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/surroundings.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "promotion/page_state.h"
#include "promotion/process_maps.h"

namespace sumac::promotion {
namespace {

// Links of /proc/self/fd to devices that pin memory begin like this.
constexpr std::string_view kPinning[] = {"/dev/infiniband/",
                                         "/dev/nvidia",
                                         "/dev/kfd",
                                         "/dev/dri/render",
                                         "/dev/hfi1",
                                         "/dev/cxi",
                                         "/dev/vfio/",
                                         "/dev/gdrdrv",
                                         "/dev/accel/",
                                         "/dev/ipath",
                                         "anon_inode:[io_uring]",
                                         "anon_inode:[userfaultfd]"};

bool pins(std::string_view target) {
  for (const std::string_view beginning : kPinning) {
    if (target.starts_with(beginning)) return true;
  }
  return false;
}

int find_valgrind(dl_phdr_info* object, std::size_t, void* found) {
  if (object->dlpi_name && std::strstr(object->dlpi_name, "/vgpreload_")) {
    *static_cast<bool*>(found) = true;
  }
  return 0;
}

}  // namespace

bool device_open() {
  DIR* directory = opendir("/proc/self/fd");
  if (!directory) return true;  // nothing is known, so a device may be open
  bool found = false;
  while (const dirent* entry = readdir(directory)) {
    char target[256];
    const ssize_t length = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);
    if (length > 0 && pins({target, static_cast<std::size_t>(length)})) found = true;
  }
  closedir(directory);
  return found;
}

bool memory_tool_present() {
  for (const char* symbol : {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"}) {
    if (dlsym(RTLD_DEFAULT, symbol)) return true;
  }
  bool found = false;
  dl_iterate_phdr(find_valgrind, &found);
  return found;
}

namespace {

// Gives advice about no bytes, which is an error if the kernel does not know it.
bool knows_advice(int advice) {
  alignas(kPage) static char page[kPage];
  return madvise(page, 0, advice) == 0;
}

}  // namespace

KernelFeatures KernelFeatures::without(const KernelFeatures& other) const {
  return {queries && !other.queries, scans && !other.scans, collapses && !other.collapses,
          populates && !other.populates};
}

KernelFeatures kernel_here() {
  return {ProcessMaps::can_query(), can_scan_pages(), knows_advice(kCollapse),
          knows_advice(kPopulateWrite)};
}

}  // namespace sumac::promotion

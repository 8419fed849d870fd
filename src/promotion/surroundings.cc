// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/surroundings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
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
                                         "anon_inode:[io_uring]"};

bool pins(std::string_view target) {
  for (const std::string_view beginning : kPinning) {
    if (target.starts_with(beginning)) return true;
  }
  return false;
}

void look_at(int directory, const char* name, OpenDescriptors& found) {
  char target[64];
  const ssize_t length = readlinkat(directory, name, target, sizeof target);
  const std::string_view to(target, length > 0 ? static_cast<std::size_t>(length) : 0);
  found.devices |= pins(to);
  found.faults |= to.starts_with("anon_inode:[userfaultfd]");
}

// The kernel writes such entries: struct linux_dirent64 of getdents64(2).
constexpr std::size_t kLengthAt = 16, kNameAt = 19;

int find_valgrind(dl_phdr_info* object, std::size_t, void* found) {
  if (object->dlpi_name && std::strstr(object->dlpi_name, "/vgpreload_")) {
    *static_cast<bool*>(found) = true;
  }
  return 0;
}

}  // namespace

OpenDescriptors open_descriptors() {
  const int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return {.devices = true};  // nothing is known
  OpenDescriptors found;
  char entries[2048];
  long bytes = 0;
  while ((bytes = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      std::uint16_t length = 0;
      std::memcpy(&length, entries + at + kLengthAt, sizeof length);
      look_at(directory, entries + at + kNameAt, found);
      at += length;
    }
  }
  close(directory);
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
  return {queries && !other.queries, collapses && !other.collapses, populates && !other.populates};
}

KernelFeatures kernel_here() {
  return {ProcessMaps::can_query(), knows_advice(kCollapse), knows_advice(kPopulateWrite)};
}

}  // namespace sumac::promotion

// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/process_maps.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"

namespace sumac::promotion {
namespace {

// This struct is as in <linux/fs.h> from Linux 6.11 on; older systems' headers lack it.
struct Query {
  std::uint64_t size, query_flags, query_addr;
  std::uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
  std::uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
  std::uint64_t vma_name_addr, build_id_addr;
};
static_assert(sizeof(Query) == 104);
constexpr unsigned long kQuery = _IOWR('f', 17, Query);
constexpr std::uint64_t kReadable = 1, kWritable = 2, kExecutable = 4, kShared = 8;
constexpr std::uint64_t kCoveringOrNext = 16, kOfFiles = 32;

std::uint64_t flags_of(Search search) {
  switch (search) {
    case Search::covering:
      return 0;
    case Search::next:
      return kCoveringOrNext;
    case Search::next_of_files:
      return kCoveringOrNext | kOfFiles;
  }
  return 0;
}

}  // namespace

int Mapping::protection() const {
  return (readable ? PROT_READ : 0) | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0);
}

bool ProcessMaps::can_query() {
  ProcessMaps maps;
  const bool can = maps.open(true);
  maps.close();
  return can;
}

bool ProcessMaps::open(bool by_query) {
  Mapping own;
  const auto here = reinterpret_cast<std::uintptr_t>(&own);
  if (by_query) file_ = identity_of(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  return by_query == this->by_query() && find(here, Search::covering, own);
}

void ProcessMaps::close() { close_own(file_); }

bool ProcessMaps::find(std::uintptr_t address, Search search, Mapping& mapping, char* name,
                       std::size_t name_bytes) const {
  if (by_query()) return query(address, search, mapping, name, name_bytes);
  MapsText text;
  while (text.next(mapping, name, name_bytes)) {
    if (mapping.end <= address) continue;
    if (search == Search::covering) return mapping.begin <= address;
    if (search == Search::next || mapping.inode != 0) return true;
  }
  return false;
}

bool ProcessMaps::query(std::uintptr_t address, Search search, Mapping& mapping, char* name,
                        std::size_t name_bytes) const {
  Query query = {};
  query.size = sizeof query;
  query.query_flags = flags_of(search);
  query.query_addr = address;
  query.vma_name_size = static_cast<std::uint32_t>(name_bytes);
  query.vma_name_addr = reinterpret_cast<std::uintptr_t>(name);
  if (ioctl(file_.descriptor, kQuery, &query) != 0) return false;
  if (name && query.vma_name_size == 0) *name = 0;
  mapping.begin = query.vma_start;
  mapping.end = query.vma_end;
  mapping.offset = query.vma_offset;
  mapping.inode = query.inode;
  mapping.device = makedev(query.dev_major, query.dev_minor);
  mapping.page_bytes = query.vma_page_size;
  mapping.readable = query.vma_flags & kReadable;
  mapping.writable = query.vma_flags & kWritable;
  mapping.executable = query.vma_flags & kExecutable;
  mapping.shared = query.vma_flags & kShared;
  return true;
}

}  // namespace sumac::promotion

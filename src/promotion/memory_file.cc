// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "base/descriptor.h"

namespace sumac::promotion {
namespace {

constexpr std::size_t kSectorOfStat = 512;    // unit of st_blocks
constexpr off_t kFileBytes = off_t{1} << 52;  // more than all addresses of programs

bool unlimited(decltype(RLIMIT_AS) resource) {
  rlimit limit = {};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

}  // namespace

Refusal MemoryFile::open() {
  // Above the first limit ftruncate() would end the process with SIGXFSZ; the second one would
  // leave little room for peers' windows.
  if (!unlimited(RLIMIT_FSIZE) || !unlimited(RLIMIT_AS)) return Refusal::limits;
  if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) return Refusal::kernel;
  constexpr char kDirectory[] = "/memfd:";
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) return Refusal::kernel;
  std::snprintf(link_, sizeof link_, "%ssumac-%016" PRIx64, kDirectory, number);
  fd_ = make_memory_file(link_ + sizeof kDirectory - 1);
  struct stat status = {};
  if (fd_ < 0 || ftruncate(fd_, kFileBytes) != 0 || fstat(fd_, &status) != 0) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    return Refusal::kernel;
  }
  inode_ = status.st_ino;
  device_ = status.st_dev;
  return Refusal::none;
}

void MemoryFile::close() {
  FileIdentity own{fd_, device_, inode_};
  close_own(own);
  fd_ = -1;
}

bool MemoryFile::is_own() const { return is_still_open({fd_, device_, inode_}); }

std::size_t MemoryFile::used() const {
  struct stat status = {};
  if (fstat(fd_, &status) != 0 || status.st_ino != inode_) return 0;
  return static_cast<std::size_t>(status.st_blocks) * kSectorOfStat;
}

bool MemoryFile::next_data(std::uintptr_t from, std::uintptr_t& found) const {
  const off_t at = lseek(fd_, static_cast<off_t>(from), SEEK_DATA);
  found = static_cast<std::uintptr_t>(at);
  return at >= 0;
}

bool MemoryFile::next_hole(std::uintptr_t from, std::uintptr_t& found) const {
  const off_t at = lseek(fd_, static_cast<off_t>(from), SEEK_HOLE);
  found = static_cast<std::uintptr_t>(at);
  return at >= 0;
}

bool MemoryFile::fill(const Range& range) const {
  return fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(range.begin),
                   static_cast<off_t>(range.bytes())) == 0;
}

std::size_t MemoryFile::punch(const Range& range) const {
  if (range.empty() || !is_own()) return 0;
  const std::size_t before = used();
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(range.begin),
            static_cast<off_t>(range.bytes()));
  const std::size_t after = used();
  return before > after ? before - after : 0;
}

// The system call is made directly: it is a part of the program's call, which hooks have seen.
bool MemoryFile::punch(const Mapping& mapping, const Range& part, std::size_t& freed) const {
  const std::size_t before = used();
  const auto offset = static_cast<off_t>(mapping.offset_of(part.begin));
  const bool punched = is_own() ? fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                                            static_cast<off_t>(part.bytes())) == 0
                                : syscall(SYS_madvise, part.begin, part.bytes(), MADV_REMOVE) == 0;
  const std::size_t after = used();
  freed += before > after ? before - after : 0;
  return punched;
}

}  // namespace sumac::promotion

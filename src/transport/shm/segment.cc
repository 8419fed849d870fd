// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/random.h"

namespace sumac {
namespace {

Segment map_and_close(int fd, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return {};
  madvise(memory, bytes, MADV_DONTFORK);  // a forked child must not write into collectives
  return {static_cast<std::byte*>(memory), bytes};
}

}  // namespace

Segment create_segment(std::size_t bytes, char (&name)[kSegmentName]) {
  std::snprintf(name, kSegmentName, "/sumac-%016llx",
                static_cast<unsigned long long>(random_word()));
  const int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return {};
  if (ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    close(fd);
    shm_unlink(name);
    return {};
  }
  const Segment segment = map_and_close(fd, bytes);
  if (!segment.memory) shm_unlink(name);
  return segment;
}

Segment open_segment(const char* name, std::size_t bytes) {
  const int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return {};
  struct stat status;
  if (fstat(fd, &status) != 0 || status.st_uid != geteuid() ||
      status.st_size < static_cast<off_t>(bytes)) {
    close(fd);
    return {};
  }
  return map_and_close(fd, bytes);
}

bool reserve_segment(const char* name, std::size_t offset, std::size_t bytes) {
  const int fd = shm_open(name, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return false;
  int result;
  do {
    result = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  close(fd);
  return result == 0;
}

void unlink_segment(const char* name) { shm_unlink(name); }

void discard_segment(const Segment& segment) {
  madvise(segment.memory, segment.bytes, MADV_REMOVE);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/write_signals.h"

namespace sumac {
namespace {

Segment map(int fd, std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return {};
  madvise(memory, bytes, MADV_DONTFORK);  // a forked child must not write into collectives
  return {static_cast<std::byte*>(memory), bytes};
}

// Opens a descriptor of this process's own for the owner's file. Returns -1 if there is none, or if
// it is another file.
int open_descriptor(const SegmentKey& key, const std::string& root) {
  const std::string path =
      root + "/proc/" + std::to_string(key.pid) + "/fd/" + std::to_string(key.descriptor);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat status;
  if (fstat(fd, &status) == 0 && status.st_dev == key.device && status.st_ino == key.inode &&
      status.st_uid == geteuid()) {
    return fd;
  }
  close(fd);
  return -1;
}

// Older headers lack MADV_POPULATE_READ and MADV_POPULATE_WRITE.
constexpr int kPopulateRead = 22, kPopulateWrite = 23;

int populate(const Segment& segment, int how) {
  const auto begin = reinterpret_cast<std::uintptr_t>(segment.memory) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(segment.memory) + segment.bytes;
  return madvise(reinterpret_cast<void*>(begin), end - begin, how);
}

}  // namespace

Segment create_segment(std::size_t bytes, SegmentKey& key, const std::string& root) {
  // With O_EXCL the file cannot be given a name later either.
  const int fd =
      open((root + "/dev/shm").c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return {};
  struct stat status;
  Segment segment;
  const WithoutWriteSignals without;  // the file may be larger than the limit on files
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0 && fstat(fd, &status) == 0) {
    segment = map(fd, bytes);
  }
  if (!segment.memory) {
    close(fd);
    return {};
  }
  key = {getpid(), fd, status.st_dev, status.st_ino};
  return segment;
}

void close_segment(const SegmentKey& key) { close(key.descriptor); }

Segment open_segment(const SegmentKey& key, std::size_t bytes, const std::string& root) {
  const int fd = open_descriptor(key, root);
  if (fd < 0) return {};
  const Segment segment = map(fd, bytes);
  close(fd);
  return segment;
}

bool reserve_segment(const Segment& segment, const SegmentKey& key, std::size_t offset,
                     std::size_t bytes, const std::string& root) {
  int result;
  do {
    result = populate({segment.memory + offset, bytes}, kPopulateWrite);
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno != EINVAL) return result == 0;
  const int fd = open_descriptor(key, root);  // the kernel is older
  if (fd < 0) return false;
  do {
    result = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  close(fd);
  return result == 0;
}

void populate_segment(const Segment& segment) { populate(segment, kPopulateRead); }

void discard_segment(const Segment& segment) {
  madvise(segment.memory, segment.bytes, MADV_REMOVE);
}

}  // namespace sumac

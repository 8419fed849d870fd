// SPDX-License-Identifier: BSD-3-Clause
// A process keeps files open: how another process finds one, and whether the program has closed it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace sumac {

// Another process finds this open file at /proc/<pid>/fd/<descriptor>; the file there is the same
// one only if it has this device and inode.
struct FileIdentity {
  std::int32_t descriptor = -1;  // -1: none
  std::uint64_t device = 0, inode = 0;
};

// Moves an open file to a descriptor from 48 on, if one is free, because programs count on low
// numbers being theirs. It stays below 64: a process begins with a table of 64 descriptors, and if
// the process has threads, Linux enlarges the table only after a grace period of read-copy-update,
// which takes 10 to 20 ms. Returns the descriptor; -1 stays -1.
inline int off_low_numbers(int descriptor) {
  constexpr int kLowest = 48;
  const int high = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, kLowest);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

// Makes a file in memory, which has no name that another process could open (memfd_create). Returns
// its descriptor, or -1. The name is what /proc shows.
inline int make_memory_file(const char* name) {
  // Kernels before 6.3 do not know this flag; others may demand it (vm.memfd_noexec).
  constexpr unsigned kNoExecSeal = 8;
  int made = memfd_create(name, MFD_CLOEXEC | kNoExecSeal);
  if (made < 0) made = memfd_create(name, MFD_CLOEXEC);
  if (made >= 0) fchmod(made, S_IRUSR | S_IWUSR);
  return off_low_numbers(made);
}

// Returns which file an open descriptor refers to, so that is_still_open() can tell later whether
// it still does. Returns no file if the descriptor is not open.
inline FileIdentity identity_of(int descriptor) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return {};
  return {descriptor, status.st_dev, status.st_ino};
}

// Returns false once the program has closed the descriptor. Some programs close all descriptors,
// also those that they did not open; the number may then be another file's.
inline bool is_still_open(const FileIdentity& file) {
  const FileIdentity now = identity_of(file.descriptor);
  return now.descriptor >= 0 && now.device == file.device && now.inode == file.inode;
}

// This is the path of a file that another process keeps open.
class PeerPath {
 public:
  PeerPath(pid_t pid, const FileIdentity& file) {
    std::snprintf(text_, sizeof text_, "/proc/%d/fd/%d", pid, file.descriptor);
  }
  const char* text() const { return text_; }

 private:
  char text_[64];
};

inline bool is_file(const struct stat& found, const FileIdentity& file) {
  return found.st_ino == file.inode && found.st_dev == file.device;
}

// Opens a descriptor of this process's own for a file that another process of the same user keeps
// open. Returns -1 if it is not there, or is another file by now.
inline int open_file_of(pid_t pid, const FileIdentity& file) {
  const int opened = off_low_numbers(open(PeerPath(pid, file).text(), O_RDWR | O_CLOEXEC));
  struct stat found;
  if (opened < 0 ||
      (fstat(opened, &found) == 0 && is_file(found, file) && found.st_uid == geteuid())) {
    return opened;
  }
  close(opened);
  return -1;
}

// Closes the file unless the program has done so.
inline void close_own(FileIdentity& file) {
  if (is_still_open(file)) close(file.descriptor);
  file = {};
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// A memory file whose offsets are addresses is seen through windows, by its own process and by
// another one.
#include "transport/mapped_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "base/cpu.h"
#include "testing/one_process.h"

namespace sumac::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

class Owner {
 public:
  Owner() : descriptor_(memfd_create("test", MFD_CLOEXEC)) {
    if (ftruncate(descriptor_, off_t{1} << 47) != 0) std::abort();
    struct stat status = {};
    fstat(descriptor_, &status);
    file_ = {descriptor_, status.st_dev, status.st_ino};
  }
  ~Owner() { close(descriptor_); }
  const FileIdentity& file() const { return file_; }

  // Allocates memory of the file at `wanted`, or anywhere. The addresses are offsets.
  std::byte* allocate(std::size_t bytes, std::uintptr_t wanted = 0) {
    void* place = reinterpret_cast<void*>(wanted);
    if (!place) {
      place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    void* const memory = mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                              descriptor_, reinterpret_cast<off_t>(place));
    if (memory == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(memory);
  }

 private:
  int descriptor_;
  FileIdentity file_;
};

// Returns the mapped memory of ranks of which rank 0 is this process and the others have `file`.
MappedMemory seen_by_rank_0(const FileIdentity& file, int others = 1) {
  const auto ranks = static_cast<std::size_t>(others) + 1;
  std::vector<FileIdentity> files(ranks, file);
  files[0] = {};
  return {std::make_unique<LocalPeerMemory>(),
          windows_on_files(std::vector<pid_t>(ranks, getpid()), files, 0), 0};
}

std::uintptr_t address(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

int count_mappings(const FileIdentity& file) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  const std::string inode = " " + std::to_string(file.inode) + " ";
  for (std::string line; std::getline(maps, line);) count += line.find(inode) != line.npos;
  return count;
}

TEST(MappedMemory, ShowsWhatTheOwnerHas) {
  Owner owner;
  std::byte* const own = owner.allocate(kMiB);
  MappedMemory memory = seen_by_rank_0(owner.file());
  ASSERT_TRUE(memory.works());
  for (const std::size_t at : {std::size_t{0}, std::size_t{12345}, kMiB - 8}) {
    std::byte* const view = memory.view(1, address(own) + at, 8);
    ASSERT_TRUE(view && view != own + at);
    std::memset(own + at, static_cast<int>(at % 251) + 1, 8);
    EXPECT_EQ(std::memcmp(view, own + at, 8), 0);
    std::memset(view, 77, 8);
    EXPECT_EQ(own[at], std::byte{77});
  }
  EXPECT_EQ(memory.view(0, address(own), 8), nullptr);  // it is the rank's own memory
}

// Memory that goes and comes back at the same address is seen through the same window.
TEST(MappedMemory, IsNeverStale) {
  Owner owner;
  std::byte* const own = owner.allocate(kMiB);
  MappedMemory memory = seen_by_rank_0(owner.file());
  const std::byte* const view = memory.view(1, address(own), 8);
  for (int round = 1; round < 200; ++round) {
    std::memset(own, round, kMiB);
    EXPECT_EQ(view[round], own[round]);
    munmap(own, kMiB);
    ASSERT_EQ(owner.allocate(kMiB, address(own)), own);
    EXPECT_EQ(memory.view(1, address(own), 8), view);
  }
}

TEST(MappedMemory, AWindowIsMappedOnceForAllGroupsAndGoesWithTheLast) {
  Owner owner;
  std::byte* const own = owner.allocate(kMiB);
  const int before = count_mappings(owner.file());
  {
    MappedMemory first = seen_by_rank_0(owner.file(), 3), second = seen_by_rank_0(owner.file());
    const std::byte* const view = first.view(1, address(own), 8);
    EXPECT_EQ(second.view(1, address(own), 8), view);
    EXPECT_EQ(first.view(3, address(own), 8), view);
    EXPECT_EQ(count_mappings(owner.file()), before + 1);
  }
  EXPECT_EQ(count_mappings(owner.file()), before);
}

TEST(MappedMemory, ShowsNothingBeyondItsBounds) {
  Owner owner;
  MappedMemory memory = seen_by_rank_0(owner.file());
  constexpr std::uintptr_t kBegin = 100 * MappedMemory::kWindow;
  EXPECT_EQ(memory.view(1, kBegin - 4, 8), nullptr);  // the bytes lie in two windows
  EXPECT_NE(memory.view(1, kBegin - 8, 8), nullptr);
  int shown = 1;
  for (std::uintptr_t i = 0; i < 2 * PeerWindows::kMost; ++i) {
    shown += memory.view(1, kBegin + i * MappedMemory::kWindow, 8) != nullptr;
  }
  EXPECT_LE(shown, static_cast<int>(PeerWindows::kMost));
  EXPECT_GE(shown, 2);
  EXPECT_NE(memory.view(1, kBegin - 8, 8), nullptr);  // a window that was shown stays
}

TEST(MappedMemory, WorksOnlyWithTheFileThatWasTold) {
  Owner owner;
  FileIdentity wrong = owner.file();
  ++wrong.inode;
  EXPECT_FALSE(seen_by_rank_0(wrong).works());
  wrong = owner.file();
  ++wrong.device;
  EXPECT_FALSE(seen_by_rank_0(wrong).works());
  EXPECT_FALSE(seen_by_rank_0({}).works());
  EXPECT_TRUE(seen_by_rank_0(owner.file()).works());
}

int count_descriptors() {
  int count = 0;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    count += fcntl(descriptor, F_GETFD) >= 0;
  }
  return count;
}

// The file is looked at when the group is made, and opened while a window is mapped.
TEST(MappedMemory, KeepsNoFileOpen) {
  Owner owner;
  std::byte* const own = owner.allocate(kMiB);
  const int before = count_descriptors();
  MappedMemory memory = seen_by_rank_0(owner.file());
  ASSERT_TRUE(memory.works());
  EXPECT_EQ(count_descriptors(), before);
  EXPECT_NE(memory.view(1, address(own), 8), nullptr);
  EXPECT_EQ(count_descriptors(), before);
}

// A file that the owner's program has put in the place of the one that was told is not shown.
TEST(MappedMemory, ShowsNoOtherFileThanTheOneThatWasTold) {
  Owner owner, other;
  std::byte* const own = owner.allocate(kMiB);
  MappedMemory memory = seen_by_rank_0(owner.file());
  ASSERT_TRUE(memory.works());
  dup2(other.file().descriptor, owner.file().descriptor);
  EXPECT_EQ(memory.view(1, address(own), 8), nullptr);
}

// Where a process locks all of its memory, before or later, or reads all of it, no page comes into
// being that the owner does not have.
TEST(MappedMemory, MapsWhatTheOwnerHas) {
  Owner owner;
  std::byte* const own = owner.allocate(16 * kMiB);
  std::memset(own + kMiB, 1, kMiB);
  std::memset(own + 8 * kMiB, 1, kMiB);
  const auto bytes = [&] {
    struct stat status = {};
    fstat(owner.file().descriptor, &status);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  };
  const bool huge = bytes() > 2 * kMiB;
  const int mappings = count_mappings(owner.file());
  MappedMemory memory = seen_by_rank_0(owner.file());
  for (const std::size_t at : {kMiB + 100, 2 * kMiB - 8, 8 * kMiB}) {
    const std::byte* const view = memory.view(1, address(own) + at, 8);
    ASSERT_TRUE(view && view[0] == std::byte{1}) << at;
    EXPECT_EQ(memory.view(1, address(own) + at, 8), view);
  }
  if (!huge) {
    EXPECT_EQ(count_mappings(owner.file()), mappings + 2) << "all of a buffer is mapped at once";
  }
  std::size_t read = 0;
  std::ifstream maps("/proc/self/maps");
  const int all = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const std::string inode = " " + std::to_string(owner.file().inode) + " ";
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    std::sscanf(line.c_str(), "%lx-%lx", &begin, &end);
    if (line.find(inode) == line.npos || begin == address(own)) continue;
    for (char byte; begin < end; begin += kPage) {
      read += pread(all, &byte, 1, static_cast<off_t>(begin)) == 1;
    }
  }
  close(all);
  EXPECT_GE(read, 2 * kMiB / kPage);
  EXPECT_TRUE(huge || bytes() == 2 * kMiB) << bytes();
}

TEST(MappedMemory, ShowsWhatThereIsWhereAllMemoryIsLocked) {
  Owner owner;
  std::byte* const own = owner.allocate(kMiB);
  std::memset(own, 5, kMiB);
  struct stat before = {};
  fstat(owner.file().descriptor, &before);
  const pid_t child = fork();
  if (child == 0) {
    if (mlockall(MCL_FUTURE) != 0) _exit(0);  // not allowed here
    MappedMemory memory = seen_by_rank_0(owner.file());
    const std::byte* const view = memory.view(1, address(own), 8);  // or none, beyond a limit
    struct stat status = {};
    fstat(owner.file().descriptor, &status);
    const bool right = !view || view[3] == std::byte{5};
    _exit(right && status.st_blocks == before.st_blocks ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(MappedMemory, ThreadsGetTheSameWindows) {
  Owner owner;
  MappedMemory memory = seen_by_rank_0(owner.file());
  constexpr int kThreads = 4, kPlaces = 20;
  std::byte* seen[kThreads][kPlaces];
  std::vector<std::thread> threads;
  for (auto& places : seen) {
    threads.emplace_back([&places, &memory] {
      for (int i = 0; i < kPlaces; ++i) {
        places[i] = memory.view(1, static_cast<std::uintptr_t>(i + 7) * MappedMemory::kWindow, 8);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kPlaces; ++i) {
    for (const auto& places : seen) EXPECT_EQ(places[i], seen[0][i]);
  }
}

// Another process sees the memory through /proc, and a child of this one has none of the windows.
TEST(MappedMemory, BetweenProcesses) {
  Owner owner;
  std::byte* const own = owner.allocate(kMiB);
  std::memset(own, 1, kMiB);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    FileIdentity none;
    MappedMemory memory(std::make_unique<LocalPeerMemory>(),
                        windows_on_files({0, parent}, {none, owner.file()}, 0), 0);
    if (!memory.works()) _exit(2);
    std::byte* const view = memory.view(1, address(own), 8);
    if (!view || view[3] != std::byte{1}) _exit(3);
    view[5] = std::byte{9};
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(count_mappings(owner.file()));
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(WEXITSTATUS(status) == 1 ? 0 : 4);  // only `own` is still mapped
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(own[5], std::byte{9});
}

}  // namespace
}  // namespace sumac::testing

// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mapped_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>

#include "base/cpu.h"
#include "base/descriptor.h"

namespace sumac {
namespace {

constexpr std::size_t kWindow = MappedMemory::kWindow;
constexpr std::size_t kHuge = std::size_t{2} << 20;

using Known = std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<PeerWindows>>;

std::mutex& mutex() {
  static auto* the_mutex = new std::mutex;
  return *the_mutex;
}
// This object is never destroyed, since groups may end while the process does.
Known& known() {
  static auto* the_known = new Known;
  return *the_known;
}

// Reserves address space for a window, aligned so that the owner's large pages can be mapped as
// such.
std::byte* reserve() {
  void* const memory =
      mmap(nullptr, kWindow + kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t head = round_up(address, kHuge) - address;
  if (head > 0) munmap(begin, head);
  if (head < kHuge) munmap(begin + head + kWindow, kHuge - head);
  return begin + head;
}

// If all memory of the process is locked, pages of a window exist as soon as it is mapped, also
// those that the owner does not have.
bool is_locked(void* place) { return msync(place, kPage, MS_INVALIDATE) != 0 && errno == EBUSY; }

// A path of the file in the peer's process.
class PeerPath {
 public:
  PeerPath(pid_t pid, const FileIdentity& file) {
    std::snprintf(text_, sizeof text_, "/proc/%d/fd/%d", pid, file.descriptor);
  }
  const char* text() const { return text_; }

 private:
  char text_[64];
};

bool is_file(const struct stat& found, const FileIdentity& file) {
  return found.st_ino == file.inode && found.st_dev == file.device;
}

int open_file(pid_t pid, const FileIdentity& file) {
  const int descriptor = off_low_numbers(open(PeerPath(pid, file).text(), O_RDWR | O_CLOEXEC));
  struct stat found = {};
  if (descriptor < 0 || (fstat(descriptor, &found) == 0 && is_file(found, file))) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

std::shared_ptr<PeerWindows> PeerWindows::of(pid_t pid, const FileIdentity& file) {
  const std::lock_guard<std::mutex> lock(mutex());
  std::weak_ptr<PeerWindows>& place = known()[{file.device, file.inode}];
  if (auto windows = place.lock()) return windows;
  struct stat found = {};
  if (stat(PeerPath(pid, file).text(), &found) != 0 || !is_file(found, file)) return nullptr;
  std::shared_ptr<PeerWindows> windows(new PeerWindows(pid, file));
  place = windows;
  return windows;
}

PeerWindows::~PeerWindows() {
  for (std::size_t i = 0; i < count_; ++i) munmap(windows_[i].memory, kWindow);
  const std::lock_guard<std::mutex> lock(mutex());
  const auto place = known().find({file_.device, file_.inode});
  if (place != known().end() && place->second.expired()) known().erase(place);
}

std::byte* PeerWindows::view(std::uintptr_t address, std::size_t bytes) {
  const std::uint64_t number = address / kWindow;
  const std::size_t offset = address % kWindow;
  if (bytes > kWindow - offset) return nullptr;
  std::byte* const begin = window(number);
  return begin ? begin + offset : nullptr;
}

std::byte* PeerWindows::window(std::uint64_t number) {
  const auto look = [&](std::size_t count) -> std::byte* {
    for (std::size_t i = 0; i < count; ++i) {
      if (windows_[i].number == number) return windows_[i].memory;
    }
    return nullptr;
  };
  if (std::byte* found = look(count_.load(std::memory_order_acquire))) return found;
  if (full_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard<std::mutex> lock(adding_);
  const std::size_t count = count_.load(std::memory_order_relaxed);
  if (std::byte* found = look(count)) return found;
  std::byte* const added = count < kMost ? map(number) : nullptr;
  if (!added) {
    full_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  windows_[count] = {number, added};
  count_.store(count + 1, std::memory_order_release);
  return added;
}

// A core file does not get the peer's memory, and neither does a child that is forked.
std::byte* PeerWindows::map(std::uint64_t number) {
  std::byte* const place = reserve();
  if (!place) return nullptr;
  const int file = is_locked(place) ? -1 : open_file(pid_, file_);
  const auto offset = static_cast<off_t>(number * kWindow);
  const bool mapped =
      file >= 0 && mmap(place, kWindow, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, offset) != MAP_FAILED;
  if (file >= 0) close(file);
  if (!mapped) {
    munmap(place, kWindow);
    return nullptr;
  }
  madvise(place, kWindow, MADV_DONTDUMP);
  madvise(place, kWindow, MADV_DONTFORK);
  return place;
}

MappedMemory::MappedMemory(std::unique_ptr<PeerMemory> copies, const std::vector<pid_t>& pids,
                           const std::vector<FileIdentity>& files, int own_rank)
    : copies_(std::move(copies)), windows_(pids.size()) {
  for (std::size_t r = 0; r < pids.size() && works_; ++r) {
    if (static_cast<int>(r) == own_rank) continue;
    windows_[r] = PeerWindows::of(pids[r], files[r]);
    works_ = windows_[r] != nullptr;
  }
}

std::byte* MappedMemory::view(int peer, std::uintptr_t address, std::size_t bytes) {
  PeerWindows* const windows = windows_[static_cast<std::size_t>(peer)].get();
  return windows ? windows->view(address, bytes) : nullptr;
}

}  // namespace sumac

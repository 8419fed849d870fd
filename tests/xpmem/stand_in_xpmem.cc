// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for XPMEM's library on machines without its kernel module: it has the functions of
// libxpmem.so.0, and judges their arguments as the module does. It can show only memory that it has
// given itself: pages of a file in memory, whose offsets are their addresses. Preloaded into the
// ranks of an MPI, it gives such memory to malloc() and its kin. Wrong use ends the process.
#include "stand_in.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

constexpr std::size_t kPage = 4096;
constexpr off_t kAddresses = (off_t{1} << 47) - static_cast<off_t>(kPage);
constexpr int kHighNumbers = 64;
constexpr char kName[] = "stand-in", kLink[] = "/memfd:stand-in", kDevice[] = "/dev/full";

struct Block {
  std::uintptr_t begin;
  std::size_t bytes;
};

struct State {
  std::recursive_mutex mutex;  // the maps give memory back by free(), which asks them
  int file = -1, device = -1;
  std::map<std::uintptr_t, Block> blocks;          // memory that was given, by address
  std::map<std::uintptr_t, std::size_t> attached;  // bytes by address
  std::map<std::int64_t, int> permits;             // files by number
  std::int64_t next_permit = 1;
};
State& state() {
  static auto* the_state = new State;
  return *the_state;
}

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "stand-in for XPMEM: %s\n", what);
  std::abort();
}

// The program may close descriptors and use their numbers again.
bool is_device(int descriptor) {
  struct stat found = {}, device = {};
  return descriptor >= 0 && fstat(descriptor, &found) == 0 && stat(kDevice, &device) == 0 &&
         S_ISCHR(found.st_mode) && found.st_rdev == device.st_rdev;
}
bool is_file(int descriptor) {
  char link[64], target[64] = {};
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return readlink(link, target, sizeof target - 1) > 0 &&
         std::strncmp(target, kLink, sizeof kLink - 1) == 0;
}

int own_file() {
  State& own = state();
  if (own.file >= 0) return is_file(own.file) ? own.file : -1;
  const int low = memfd_create(kName, MFD_CLOEXEC);
  own.file = fcntl(low, F_DUPFD_CLOEXEC, kHighNumbers);
  close(low);
  if (own.file < 0 || ftruncate(own.file, kAddresses) != 0) die("no file");
  return own.file;
}

// The library opens the module's device at its first use, at the lowest number.
bool is_open() {
  State& own = state();
  if (own.device < 0) own.device = open(kDevice, O_RDWR | O_CLOEXEC);
  return is_device(own.device);
}

int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

struct xpmem_addr {
  std::int64_t apid;
  off_t offset;
};

int xpmem_version() {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (is_open()) return 0x26003;
  for (const auto& [begin, bytes] : state().attached) {
    munmap(reinterpret_cast<void*>(begin), bytes);
  }
  state().attached.clear();
  return failed(EBADF);
}

std::int64_t xpmem_make(void* address, std::size_t bytes, int type, void* permit) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (!is_open()) return failed(EBADF);
  const bool all = !address && bytes == ~std::size_t{0};
  if (!all || type != 1 || reinterpret_cast<std::uintptr_t>(permit) & ~std::uintptr_t{0777}) {
    return failed(EINVAL);
  }
  return std::int64_t{getpid()} << 16 | own_file();
}

std::int64_t xpmem_get(std::int64_t segment, int flags, int type, void* permit) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (!is_open()) return failed(EBADF);
  if (segment <= 0 || flags != 2 || type != 1 || permit) return failed(EINVAL);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(segment >> 16),
                static_cast<int>(segment & 0xffff));
  const int low = open(path, O_RDWR | O_CLOEXEC);
  if (low < 0) return failed(ENOENT);
  const int file = fcntl(low, F_DUPFD_CLOEXEC, kHighNumbers);
  close(low);
  if (!is_file(file)) {
    close(file);
    return failed(ENOENT);
  }
  state().permits[state().next_permit] = file;
  return state().next_permit++;
}

int xpmem_release(std::int64_t permit) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (!is_open()) return failed(EBADF);
  const auto found = state().permits.find(permit);
  if (found == state().permits.end()) die("release of no permit");
  close(found->second);
  state().permits.erase(found);
  return 0;
}

void* xpmem_attach(struct xpmem_addr from, std::size_t bytes, void* address) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const auto refuse = [](int error) {
    return reinterpret_cast<void*>(std::intptr_t{failed(error)});
  };
  if (!is_open()) return refuse(EBADF);
  const auto found = state().permits.find(from.apid);
  if (found == state().permits.end()) return refuse(ENOENT);
  const auto length = static_cast<off_t>(bytes);
  if (address || from.offset % static_cast<off_t>(kPage) != 0) die("attach at a wrong place");
  if (from.offset < 0 || length <= 0 || from.offset + length > kAddresses) return refuse(EINVAL);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            found->second, from.offset);
  if (memory == MAP_FAILED) return refuse(ENOMEM);
  madvise(memory, bytes, MADV_DONTFORK);
  state().attached[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  return memory;
}

int xpmem_detach(void* address) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (!is_open()) return failed(EBADF);
  const auto found = state().attached.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == state().attached.end()) die("detach of no attachment");
  munmap(address, found->second);
  state().attached.erase(found);
  return 0;
}

int stand_in_attachments() {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  return static_cast<int>(state().attached.size());
}

void stand_in_close() {
  if (is_device(state().device)) close(state().device);
}

// The memory begins `alignment` bytes, or a cache line, within its first page.
void* stand_in_allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const int file = own_file();
  if (file < 0 || alignment > kPage || bytes > (std::size_t{1} << 40)) return nullptr;
  const std::size_t lead = std::max<std::size_t>(alignment, 64);
  const std::size_t all = (lead + bytes + kPage - 1) / kPage * kPage;
  void* const place = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  if (mmap(place, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
           static_cast<off_t>(begin)) == MAP_FAILED) {
    munmap(place, all);
    return nullptr;
  }
  state().blocks[begin + lead] = {begin, all};
  return static_cast<std::byte*>(place) + lead;
}

std::size_t stand_in_bytes(void* memory) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const auto found = state().blocks.find(at);
  return found == state().blocks.end() ? 0 : found->second.begin + found->second.bytes - at;
}

bool stand_in_free(void* memory) {
  const std::lock_guard<std::recursive_mutex> lock(state().mutex);
  const auto found = state().blocks.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == state().blocks.end()) return false;
  const Block block = found->second;
  state().blocks.erase(found);
  if (const int file = own_file(); file >= 0) {
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(block.begin),
              static_cast<off_t>(block.bytes));
  }
  munmap(reinterpret_cast<void*>(block.begin), block.bytes);
  return true;
}

}  // extern "C"

// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "promotion/address_space.h"
#include "promotion/known_mappings.h"
#include "promotion/page_state.h"

namespace sumac::promotion {
namespace {

constexpr std::size_t kSectorOfStat = 512;    // unit of st_blocks
constexpr off_t kFileBytes = off_t{1} << 52;  // more than all addresses of programs

bool unlimited(decltype(RLIMIT_AS) resource) {
  rlimit limit = {};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

class LinuxSpace final : public AddressSpace {
 public:
  Refusal open(const KernelFeatures& without) override {
    features_ = kernel_here().without(without);
    Refusal refusal = maps_.open(features_.queries) ? make_file() : Refusal::kernel;
    if (refusal == Refusal::none && !features_.queries && !known_.open()) refusal = Refusal::kernel;
    if (refusal == Refusal::none) return refusal;
    close_file();
    maps_.close();
    file_ = {};
    return refusal;
  }
  // Mappings of the file are still recognised.
  void close_file() override {
    FileIdentity own = file_;
    close_own(own);
    file_.descriptor = -1;
  }
  // The descriptors of the mappings stay with the address space that they were opened for.
  void at_fork(Fork when) override {
    if (when == Fork::before) known_.close();
    if (when == Fork::in_parent && !features_.queries) known_.open();
    if (when == Fork::in_child || when == Fork::child_is_ready) maps_.close();
    if (when == Fork::in_child) maps_.open(features_.queries);
    if (when == Fork::child_is_ready) {
      known_.close();
      close_file();
    }
  }
  OpenDescriptors open_descriptors() override { return promotion::open_descriptors(); }

  bool file_is_own() override { return is_still_open(file_); }
  std::size_t used() override {
    struct stat status = {};
    if (fstat(file_.descriptor, &status) != 0 || status.st_ino != file_.inode) return 0;
    return static_cast<std::size_t>(status.st_blocks) * kSectorOfStat;
  }
  bool next_data(std::uintptr_t from, std::uintptr_t& found) override {
    return seek(from, SEEK_DATA, found);
  }
  bool fill(const Range& offsets) override { return allocate(FALLOC_FL_KEEP_SIZE, offsets); }
  // The system call is made directly: it is a part of the program's call, which hooks have seen.
  bool punch(const Range& offsets, std::uintptr_t shown_at) override {
    if (file_is_own()) return allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offsets);
    return shown_at != 0 && syscall(SYS_madvise, shown_at, offsets.bytes(), MADV_REMOVE) == 0;
  }
  bool read(const Range& offsets, std::uintptr_t to) override {
    for (Range data{0, offsets.begin}; next_data(data.end, data.begin);) {
      if (!seek(data.begin, SEEK_HOLE, data.end)) data.end = offsets.end;
      data = data.within(offsets);
      if (data.empty()) return true;
      if (!read_all(data, pointer(to + (data.begin - offsets.begin)))) return false;
    }
    return true;
  }
  // A second mapping shows the data: mremap() makes one when the old size is 0.
  bool read(const Mapping& mapping, std::uintptr_t to) override {
    const std::size_t bytes = mapping.bytes();
    void* const second =
        reinterpret_cast<void*>(syscall(SYS_mremap, mapping.begin, 0, bytes, MREMAP_MAYMOVE));
    if (second == MAP_FAILED) return false;
    const bool can_read = mprotect(second, bytes, PROT_READ) == 0;
    if (can_read) std::memcpy(pointer(to), second, bytes);
    munmap(second, bytes);
    return can_read;
  }

  bool find(std::uintptr_t address, Search search, Mapping& mapping) override {
    return maps_.find(address, search, mapping);
  }
  bool find_in_place(std::uintptr_t address, Mapping& mapping) override {
    if (!features_.queries && known_.find(address, mapping)) return true;
    if (!AddressSpace::find_in_place(address, mapping)) return false;
    if (!features_.queries) known_.note(mapping);
    return true;
  }
  bool visit_files(std::uintptr_t from, const std::function<bool(const Mapping&)>& act) override {
    return maps_.for_files(from, act);
  }
  void describe(const std::function<bool(const Described&)>& act) override {
    MapsText text("/proc/self/smaps");
    Described mapping;
    while (mapping.next(text) && act(mapping)) {
    }
  }
  std::size_t touched_pages(const Range& range) override { return promotion::touched_pages(range); }

  std::uintptr_t map_anywhere(std::size_t bytes, int protection) override {
    constexpr int kLazy = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const at = mmap(nullptr, bytes, protection, kLazy, -1, 0);
    return at == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(at);
  }
  bool map(const Range& range, const Contents& contents, bool replaces) override {
    const bool zeros = contents.source == Contents::Source::zeros;
    const int flags = (contents.source == Contents::Source::file ? MAP_SHARED : MAP_PRIVATE) |
                      (replaces ? MAP_FIXED : MAP_FIXED_NOREPLACE) | (zeros ? MAP_ANONYMOUS : 0);
    std::byte* const at = pointer(range.begin);
    return mmap(at, range.bytes(), contents.protection, flags, zeros ? -1 : file_.descriptor,
                static_cast<off_t>(contents.offset)) == at;
  }
  bool unmap(const Range& range) override {
    return munmap(pointer(range.begin), range.bytes()) == 0;
  }
  // It does not use the C library's mremap(): the one that UCX 1.13 puts in its place does not pass
  // the new address on, and nobody's hooks may run in the child of a fork.
  bool move(const Range& range, std::uintptr_t to) override {
    known_.forget({to, to + range.bytes()});
    return syscall(SYS_mremap, range.begin, range.bytes(), range.bytes(),
                   MREMAP_MAYMOVE | MREMAP_FIXED, to) == static_cast<long>(to);
  }
  bool protect(const Range& range, int protection) override {
    return mprotect(pointer(range.begin), range.bytes(), protection) == 0;
  }
  bool advise(const Range& range, int advice) override {
    return madvise(pointer(range.begin), range.bytes(), advice) == 0;
  }
  void place_alike(const Range& range) override { promotion::place_alike(range, file_.descriptor); }
  void copy(const Range& range, std::uintptr_t to) override {
    std::memcpy(pointer(to), pointer(range.begin), range.bytes());
  }

 private:
  Refusal make_file() {
    // Above the first limit ftruncate() would end the process with SIGXFSZ; the second one would
    // leave little room for peers' windows.
    if (!unlimited(RLIMIT_FSIZE) || !unlimited(RLIMIT_AS)) return Refusal::limits;
    if (sysconf(_SC_PAGESIZE) != static_cast<long>(kPage)) return Refusal::kernel;
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) return Refusal::kernel;
    char name[32];
    std::snprintf(name, sizeof name, "sumac-%016" PRIx64, number);
    known_.recognise(name);
    file_ = identity_of(make_memory_file(name));
    return ftruncate(file_.descriptor, kFileBytes) == 0 ? Refusal::none : Refusal::kernel;
  }
  bool seek(std::uintptr_t from, int what, std::uintptr_t& found) const {
    const off_t at = lseek(file_.descriptor, static_cast<off_t>(from), what);
    found = static_cast<std::uintptr_t>(at);
    return at >= 0;
  }
  bool allocate(int mode, const Range& offsets) const {
    return fallocate(file_.descriptor, mode, static_cast<off_t>(offsets.begin),
                     static_cast<off_t>(offsets.bytes())) == 0;
  }
  bool read_all(Range rest, std::byte* to) const {
    while (!rest.empty()) {
      const ssize_t got = pread(file_.descriptor, to, rest.bytes(), static_cast<off_t>(rest.begin));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      rest.begin += static_cast<std::size_t>(got);
    }
    return true;
  }

  ProcessMaps maps_;
  KnownMappings known_;  // for kernels without PROCMAP_QUERY
};

}  // namespace

AddressSpace& linux_space() {
  static LinuxSpace& space = *new LinuxSpace;
  return space;
}

}  // namespace sumac::promotion

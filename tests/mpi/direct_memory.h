// SPDX-License-Identifier: BSD-3-Clause
// Memory of buffers, from all the places programs have it from.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <vector>

#include "check.h"
#include "data.h"

namespace test {

constexpr std::size_t kPage = 4096;

enum class Origin {
  malloc,
  calloc,
  new_array,
  aligned,
  map,
  // Those that follow are never promoted, or not always.
  alloc_mem,
  stack,
  data,
  bss,
  shared_window,
  private_file,
  shared_file,
  locked,
};
constexpr int kOrigins = 13, kPlainOrigins = 5;

inline const char* name_of(Origin origin) {
  constexpr std::array<const char*, kOrigins> kNames{
      "malloc", "calloc", "new",        "posix_memalign", "mmap",        "MPI_Alloc_mem", "stack",
      ".data",  ".bss",   "MPI window", "private file",   "shared file", "mlock"};
  return kNames[static_cast<std::size_t>(origin)];
}

// Memory that exists once: of a stack, of the program, of a window. By slot.
struct Pools {
  static constexpr std::size_t kBytes = 160 << 10;
  unsigned char *stack = nullptr, *data = nullptr, *bss = nullptr, *window = nullptr;
};
inline std::array<Pools, 2>& pools() {
  static std::array<Pools, 2> all;
  return all;
}

inline unsigned char* map_anonymous(void* at, std::size_t bytes, int flags = 0) {
  void* const found = mmap(at, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0) | flags, -1, 0);
  if (!CHECK(found != MAP_FAILED, "%zu bytes", bytes)) std::abort();
  return static_cast<unsigned char*>(found);
}

inline unsigned char* map_file(std::size_t bytes, int shared_or_private) {
  const int file = memfd_create("direct-test", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::abort();
  void* const found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, shared_or_private, file, 0);
  close(file);
  if (found == MAP_FAILED) std::abort();
  return static_cast<unsigned char*>(found);
}

class Memory {
 public:
  Memory() = default;
  Memory(Origin origin, std::size_t bytes, const Pools& pool)
      : origin_(origin), at_(nullptr), bytes_(bytes) {
    if (bytes > Pools::kBytes && origin >= Origin::stack && origin <= Origin::shared_window) {
      origin_ = Origin::malloc;
    }
    if (is_mapped()) bytes_ = (bytes + kPage - 1) / kPage * kPage;
    at_ = take(pool);
    if (!at_) std::abort();
  }
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(origin_, other.origin_);
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    std::swap(divided_, other.divided_);
    return *this;
  }
  ~Memory() { release(); }

  unsigned char* at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  Origin origin() const { return origin_; }
  bool is_mapped() const { return origin_ == Origin::map || origin_ >= Origin::private_file; }
  bool is_shared() const {
    return origin_ == Origin::shared_window || origin_ == Origin::shared_file;
  }
  // The kernel may not join the parts again, and mremap() of several parts at once is an error.
  void divide() { divided_ = true; }
  bool is_divided() const { return divided_; }
  std::vector<unsigned char> content() const { return {at_, at_ + bytes_}; }

  // Instead of what realloc() or mremap() has just ended.
  void is_now(void* at, std::size_t bytes) {
    at_ = static_cast<unsigned char*>(at);
    bytes_ = bytes;
  }

 private:
  unsigned char* take(const Pools& pool) {
    void* found = nullptr;
    switch (origin_) {
      case Origin::malloc:
        return static_cast<unsigned char*>(std::malloc(bytes_));
      case Origin::calloc:
        return static_cast<unsigned char*>(std::calloc(bytes_, 1));
      case Origin::new_array:
        return new unsigned char[bytes_];
      case Origin::aligned:
        return posix_memalign(&found, kPage, bytes_) == 0 ? static_cast<unsigned char*>(found)
                                                          : nullptr;
      case Origin::map:
        return map_anonymous(nullptr, bytes_);
      case Origin::alloc_mem:
        MPI_Alloc_mem(static_cast<MPI_Aint>(bytes_), MPI_INFO_NULL, &found);
        return static_cast<unsigned char*>(found);
      case Origin::stack:
        return pool.stack;
      case Origin::data:
        return pool.data;
      case Origin::bss:
        return pool.bss;
      case Origin::shared_window:
        return pool.window;
      case Origin::private_file:
        return map_file(bytes_, MAP_PRIVATE);
      case Origin::shared_file:
        return map_file(bytes_, MAP_SHARED);
      case Origin::locked:
        found = map_anonymous(nullptr, bytes_);
        mlock(found, bytes_);  // or not, where a limit forbids it
        return static_cast<unsigned char*>(found);
    }
    return nullptr;
  }
  void release() {
    if (!at_) return;
    if (is_mapped()) {
      munmap(at_, bytes_);
    } else if (origin_ == Origin::new_array) {
      delete[] at_;
    } else if (origin_ == Origin::alloc_mem) {
      MPI_Free_mem(at_);
    } else if (origin_ < Origin::alloc_mem) {
      std::free(at_);
    }
    at_ = nullptr;
  }

  Origin origin_ = Origin::malloc;
  unsigned char* at_ = nullptr;
  std::size_t bytes_ = 0;
  bool divided_ = false;
};

}  // namespace test

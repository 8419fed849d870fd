// SPDX-License-Identifier: BSD-3-Clause
// Where the stand-in for XPMEM's library is preloaded, large memory of malloc() and its kin is the
// stand-in's, in processes that are ranks of an MPI. What is small is glibc's.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "stand_in.h"

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
}

namespace {

constexpr std::size_t kLeast = 8192, kLead = 64, kPage = 4096;

bool is_rank() {
  static int answer = -1;  // threads may find it twice
  if (answer >= 0) return answer != 0;
  if (!environ) return false;
  const bool is = std::getenv("OMPI_COMM_WORLD_RANK") || std::getenv("PMI_RANK");
  answer = is ? 1 : 0;
  return is;
}

void* give(std::size_t bytes, std::size_t alignment) {
  return bytes >= kLeast && is_rank() ? stand_in_allocate(bytes, alignment) : nullptr;
}

// Returns false for most memory that is not the stand-in's, without a look at its books.
bool may_be_given(void* memory) {
  const auto within = reinterpret_cast<std::uintptr_t>(memory) % kPage;
  const bool is_power = (within & (within - 1)) == 0;
  return memory && is_rank() && is_power && (within == 0 || within >= kLead);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
  void* const given = give(bytes, 1);
  return given ? given : __libc_malloc(bytes);
}

void free(void* memory) {
  if (!may_be_given(memory) || !stand_in_free(memory)) __libc_free(memory);
}

void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  void* const given = __builtin_mul_overflow(count, bytes, &all) ? nullptr : give(all, 1);
  return given ? given : __libc_calloc(count, bytes);
}

std::size_t malloc_usable_size(void* memory) {
  if (const std::size_t bytes = may_be_given(memory) ? stand_in_bytes(memory) : 0) return bytes;
  static const auto next =
      reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return next(memory);
}

void* realloc(void* memory, std::size_t bytes) {
  const std::size_t had = may_be_given(memory) ? stand_in_bytes(memory) : 0;
  if (had == 0) return __libc_realloc(memory, bytes);
  void* const moved = bytes > 0 ? malloc(bytes) : nullptr;
  if (moved) std::memcpy(moved, memory, std::min(had, bytes));
  if (moved || bytes == 0) free(memory);
  return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  void* const given = give(bytes, alignment);
  return given ? given : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
  void* const found = memalign(alignment, bytes);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

}  // extern "C"

// SPDX-License-Identifier: BSD-3-Clause
// The tests of promotion share this file.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "promotion/promotion.h"
#include "promotion/range.h"

namespace sumac::promotion {

inline constexpr std::size_t kMega = std::size_t{1} << 20;

// These are the next functions that advise() and remap() call: nothing comes before the kernel.
inline int system_madvise(void* address, std::size_t bytes, int advice) {
  return static_cast<int>(syscall(SYS_madvise, address, bytes, advice));
}

inline void* system_mremap(void* address, std::size_t bytes, std::size_t new_bytes, int flags,
                           ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* to = va_arg(arguments, void*);
  va_end(arguments);
  return reinterpret_cast<void*>(syscall(SYS_mremap, address, bytes, new_bytes, flags, to));
}

// Sanitizers ignore mlock() and need much address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The kernel gives memory from here on to nobody who does not ask for it.
#ifdef __SANITIZE_ADDRESS__
inline constexpr std::uintptr_t kApart = std::uintptr_t{1} << 45;  // its own memory lies below
#else
inline constexpr std::uintptr_t kApart = std::uintptr_t{1} << 37;
#endif

// The tests do without what came after the version of Linux in SUMAC_TEST_LINUX.
inline KernelFeatures test_without() {
  const char* version = std::getenv("SUMAC_TEST_LINUX");
  if (!version) return {};
  const bool before_6 = std::atoi(version) < 6;
  return {.queries = true, .collapses = before_6, .populates = before_6};
}

// The tests may run in a sanitizer's process, and the program's calls reach the service in them.
inline Settings test_settings() {
  Settings settings;
  settings.without = test_without();
  settings.heed_tools = false;
  settings.calls_caught = true;
  return settings;
}

// Opens the service. Skips the test if the kernel cannot promote.
#define SUMAC_NEED_PROMOTION()                                         \
  if (const Refusal off = open(test_settings()); off != Refusal::none) \
  GTEST_SKIP() << refusal_text(off)

// This is private memory, a mapping of its own whose pages exist.
class Pages {
 public:
  explicit Pages(std::size_t bytes, std::size_t alignment = kPage)
      : size_(bytes), all_(bytes + alignment) {
    base_ = mmap(nullptr, all_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                 -1, 0);
    const auto address = reinterpret_cast<std::uintptr_t>(base_);
    data_ = pointer(round_up(address, alignment));
  }
  ~Pages() { munmap(base_, all_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_, all_;
  void* base_;
  std::byte* data_;
};

// Returns a byte that tells where it belongs.
inline std::byte pattern(std::size_t i, unsigned seed) {
  return static_cast<std::byte>((i * 131 + (i >> 8) * 17 + seed * 29) & 255);
}
inline void fill(std::byte* data, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) data[i] = pattern(i, seed);
}
// Returns the first byte that is not as fill() left it, or `bytes` if all are.
inline std::size_t differs(const std::byte* data, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (data[i] != pattern(i, seed)) return i;
  }
  return bytes;
}
inline std::size_t nonzero(const std::byte* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (data[i] != std::byte{0}) return i;
  }
  return bytes;
}

// A peer sees this of the file at these addresses.
class Window {
 public:
  Window(const std::byte* address, std::size_t bytes) : bytes_(bytes) {
    data_ = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                         file().descriptor,
                                         static_cast<off_t>(range_of(address, 0).begin)));
  }
  ~Window() { munmap(data_, bytes_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

// Returns another generator in each run of a test that is repeated with --gtest_shuffle.
inline std::mt19937 test_random() {
  return std::mt19937(static_cast<unsigned>(testing::UnitTest::GetInstance()->random_seed()));
}

// Runs the function in a child. Returns its exit code: 0 if it returned true; -1: it was killed.
inline int in_child(const std::function<bool()>& run) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(run() ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace sumac::promotion

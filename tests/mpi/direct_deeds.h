// SPDX-License-Identifier: BSD-3-Clause
// What programs do to the memory of their buffers between collectives. Each function checks that
// the memory then holds what private memory would.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "direct_memory.h"

namespace test {

inline bool all_are(const unsigned char* at, std::size_t bytes, unsigned char value) {
  return std::all_of(at, at + bytes, [&](unsigned char byte) { return byte == value; });
}
inline bool holds(const Memory& memory, const std::vector<unsigned char>& content) {
  const std::size_t bytes = std::min(memory.bytes(), content.size());
  return std::equal(content.data(), content.data() + bytes, memory.at());
}

// Whole pages of a mapping, at random.
struct Pages {
  std::size_t begin, end;
  Pages(const Memory& memory, Random& own) {
    const std::size_t all = memory.bytes() / kPage;
    begin = own.below(2) ? own.below(all) : 0;
    end = own.below(2) ? begin + 1 + own.below(all - begin) : all;
    begin *= kPage, end *= kPage;
  }
  std::size_t bytes() const { return end - begin; }
};

inline void use_other_size(Memory& memory, Random& own) {
  const std::vector<unsigned char> before = memory.content();
  const std::size_t size = 1 + own.below(2 * memory.bytes());
  memory.is_now(std::realloc(memory.at(), size), size);
  CHECK(holds(memory, before), "%zu bytes, then %zu; %s", before.size(), size, step_text);
}

// Whether mremap() moves to where it is told to. UCX 1.13, below MPICH, puts its own in place of
// the C library's and loses that address: the pages go to an arbitrary place, such as 0, without
// Sumac too.
inline bool moves_where_told() {
  static const bool result = [] {
    unsigned char* const page = map_anonymous(nullptr, kPage);
    unsigned char* const target = map_anonymous(nullptr, kPage);
    void* const now = mremap(page, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, target);
    munmap(now == MAP_FAILED ? page : now, kPage);
    if (now != target) munmap(target, kPage);
    return now == target;
  }();
  return result;
}

inline void remap(Memory& memory, Random& own) {
  if (memory.is_divided()) return;
  const std::vector<unsigned char> before = memory.content();
  std::size_t size = (1 + own.below(2 * memory.bytes() / kPage)) * kPage;
  void* target = nullptr;
  int flags = MREMAP_MAYMOVE;
  if (own.below(2) && moves_where_told()) {
    size = memory.bytes();
    target = map_anonymous(nullptr, size);
    flags |= MREMAP_FIXED;
  }
  void* const now = mremap(memory.at(), memory.bytes(), size, flags, target);
  if (!CHECK(now != MAP_FAILED, "%zu bytes, then %zu; %s", before.size(), size, step_text)) return;
  memory.is_now(now, size);
  CHECK(!target || now == target, "%p, not %p; %s", now, target, step_text);
  CHECK(holds(memory, before), "%zu bytes, then %zu; %s", before.size(), size, step_text);
  if (size > before.size()) {
    CHECK(all_are(memory.at() + before.size(), size - before.size(), 0), "%zu bytes, then %zu; %s",
          before.size(), size, step_text);
  }
}

// Other memory at the same addresses.
inline void replace(Memory& memory, Random& own) {
  std::vector<unsigned char> expected = memory.content();
  const Pages pages(memory, own);
  if (own.below(2)) munmap(memory.at() + pages.begin, pages.bytes());
  map_anonymous(memory.at() + pages.begin, pages.bytes());
  memory.divide();
  std::memset(expected.data() + pages.begin, 0, pages.bytes());
  CHECK(holds(memory, expected), "pages %zx to %zx; %s", pages.begin, pages.end, step_text);
}

inline void give_back(Memory& memory, Random& own) {
  std::vector<unsigned char> expected = memory.content();
  const Pages pages(memory, own);
  CHECK(madvise(memory.at() + pages.begin, pages.bytes(), MADV_DONTNEED) == 0, "%s", step_text);
  std::memset(expected.data() + pages.begin, 0, pages.bytes());
  CHECK(holds(memory, expected), "pages %zx to %zx; %s", pages.begin, pages.end, step_text);
}

// Pages have their old data, or zeros; what is written then stays.
inline void free_lazily(Memory& memory, Random& own) {
  const std::vector<unsigned char> before = memory.content();
  const Pages pages(memory, own);
  CHECK(madvise(memory.at() + pages.begin, pages.bytes(), MADV_FREE) == 0, "%s", step_text);
  for (std::size_t i = 0; i < memory.bytes(); i += kPage) {
    const bool old = std::memcmp(memory.at() + i, before.data() + i, kPage) == 0;
    const bool freed = i >= pages.begin && i < pages.end && all_are(memory.at() + i, kPage, 0);
    if (!CHECK(old || freed, "page %zx; %s", i, step_text)) break;
  }
  std::memset(memory.at(), 0x77, memory.bytes());
  sched_yield();
  CHECK(all_are(memory.at(), memory.bytes(), 0x77), "%s", step_text);
}

// The kernel writes into the memory and reads from it.
inline void read_and_write(Memory& memory, Random& own) {
  std::vector<unsigned char> expected = memory.content();
  const std::size_t begin = own.below(memory.bytes()), bytes = memory.bytes() - begin;
  const int file = memfd_create("direct-test", MFD_CLOEXEC);
  CHECK(pwrite(file, memory.at(), memory.bytes(), 0) == static_cast<ssize_t>(memory.bytes()));
  CHECK(pread(file, memory.at() + begin, bytes, 0) == static_cast<ssize_t>(bytes));
  close(file);
  const std::vector<unsigned char> old = expected;
  std::copy_n(old.begin(), bytes, expected.begin() + static_cast<std::ptrdiff_t>(begin));
  CHECK(holds(memory, expected), "from %zu of %zu; %s", begin, memory.bytes(), step_text);
}

inline void forbid_for_a_while(Memory& memory, Random& own) {
  const std::vector<unsigned char> before = memory.content();
  const int protection = own.below(2) ? PROT_NONE : PROT_READ;
  CHECK(mprotect(memory.at(), memory.bytes(), protection) == 0, "%s", step_text);
  sched_yield();
  CHECK(mprotect(memory.at(), memory.bytes(), PROT_READ | PROT_WRITE) == 0, "%s", step_text);
  CHECK(holds(memory, before), "%s", step_text);
}

// What the child must find, whatever its parent writes meanwhile.
[[noreturn]] inline void be_the_child(const Memory& memory,
                                      const std::vector<unsigned char>& before, int pipe_end) {
  char byte = 0;
  const bool at_once = holds(memory, before);
  if (read(pipe_end, &byte, 1) != 1) _exit(2);
  const bool later = holds(memory, before);
  std::memset(memory.at(), 0x33, memory.bytes());
  _exit(at_once && later && all_are(memory.at(), memory.bytes(), 0x33) ? 0 : 1);
}

inline void fork_and_write(Memory& memory) {
  if (memory.is_shared()) return;
  const std::vector<unsigned char> before = memory.content();
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) be_the_child(memory, before, ends[0]);
  for (std::size_t i = 0; i < memory.bytes(); ++i) memory.at()[i] ^= 0xff;
  CHECK(write(ends[1], "", 1) == 1);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x, %s; %s", status,
        name_of(memory.origin()), step_text);
  close(ends[0]);
  close(ends[1]);
  bool right = true;
  for (std::size_t i = 0; i < memory.bytes(); ++i) {
    right &= memory.at()[i] == static_cast<unsigned char>(before[i] ^ 0xff);
  }
  CHECK(right, "the parent sees its child's writes: %s; %s", name_of(memory.origin()), step_text);
}

// A process made without fork's handlers.
inline void spawn(Memory& memory) {
  const std::vector<unsigned char> before = memory.content();
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {nullptr};
  pid_t child = -1;
  int status = -1;
  CHECK(posix_spawnp(&child, "true", nullptr, nullptr, arguments, environment) == 0);
  CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x", status);
  CHECK(holds(memory, before), "%s", step_text);
}

// A child in its parent's memory: what it writes, its parent has.
inline void call_vfork(Memory& memory) {
  std::vector<unsigned char> expected = memory.content();
  volatile unsigned char* const first = memory.at();
  const pid_t child = vfork();
  if (child == 0) {
    *first = static_cast<unsigned char>(*first + 1);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "status %x", status);
  ++expected[0];
  CHECK(holds(memory, expected), "%s", step_text);
}

// A thread that writes all the time what lies beside a buffer on its first and its last page.
class Neighbour {
 public:
  Neighbour(const Memory& memory, unsigned char* buffer, std::size_t bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(buffer);
    const std::size_t before =
        std::min<std::size_t>(address % kPage, static_cast<std::size_t>(buffer - memory.at()));
    unsigned char* const end = buffer + bytes;
    const std::size_t rest = kPage - reinterpret_cast<std::uintptr_t>(end) % kPage;
    const auto after = static_cast<std::size_t>(memory.at() + memory.bytes() - end);
    for (std::size_t i = 0; i < before; ++i) own_.push_back(buffer - before + i);
    for (std::size_t i = 0; i < std::min(rest, after); ++i) own_.push_back(end + i);
    for (volatile unsigned char* place : own_) *place = 0;
    thread_ = std::thread([this] { work(); });
    while (!works_) sched_yield();
  }
  ~Neighbour() {
    stop_ = true;
    thread_.join();
    CHECK(lost_ == 0, "%ld writes beside a buffer are lost; %s", lost_, step_text);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  void work() {
    for (unsigned char value = 0; !stop_; ++value) {
      for (volatile unsigned char* place : own_) {
        lost_ += *place != value;
        *place = static_cast<unsigned char>(value + 1);
      }
      works_ = true;
      if (value % 64 == 0) sched_yield();
    }
  }
  std::vector<volatile unsigned char*> own_;
  std::atomic<bool> stop_{false}, works_{false};
  long lost_ = 0;
  std::thread thread_;
};

}  // namespace test

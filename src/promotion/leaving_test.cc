// SPDX-License-Identifier: BSD-3-Clause
// A process leaves direct memory: at a fork, if it has much of it, and at its end. Each test has
// its own process, in which nothing has been opened before.
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>

#include <atomic>
#include <thread>

#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

// A process with much such memory, or a child that has another one's.
struct Much {
  Pages pages{24 * kMega};
  Much() { fill(pages.data(), pages.size(), 1); }
  bool is_private(unsigned seed) {
    std::byte* const data = pages.data();
    const auto has = [&](unsigned now) { return differs(data, kMega, now) == kMega; };
    if (!has(seed) || mapped(data, kMega) || status() != Refusal::forked) return false;
    fill(data, kMega, seed + 50);
    if (!has(seed + 50) || promote(data, kMega).done()) return false;
    // Memory that is given back reads as zeros, and memory that grows has no other pages. Both
    // processes may fork again.
    std::byte* const rest = data + kMega;
    if (advise(rest, 2 * kPage, MADV_DONTNEED, madvise) != 0 || nonzero(rest, 2 * kPage) < kPage ||
        advise(rest + 4 * kPage, kPage, MADV_FREE, madvise) != 0) {
      return false;
    }
    void* const moved = remap(rest, kMega, 2 * kMega, MREMAP_MAYMOVE, nullptr, mremap);
    if (moved == MAP_FAILED) return false;
    const auto* const grown = static_cast<std::byte*>(moved);
    return nonzero(grown + kMega, kMega) == kMega && nonzero(grown, 2 * kPage) == 2 * kPage &&
           grown[8 * kPage] == pattern(kMega + 8 * kPage, 1) &&
           in_child([&] { return has(seed + 50); }) == 0;
  }
};

// Parent and child go on with the kernel's own copies, and neither waits for the other.
TEST(Leaving, AProcessWithMuchLeavesDirectMemory) {
  const int code = in_child([] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    Much much;
    if (!promote(much.pages.data(), much.pages.size()).done()) return false;
    int ends[2];
    if (pipe(ends) != 0) return false;
    const pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      alarm(60);
      // The parent has written to its memory, given some back and ended its own children by now.
      if (read(ends[0], &byte, 1) != 1) _exit(2);
      _exit(much.is_private(1) ? 0 : 3);
    }
    if (!much.is_private(1) || write(ends[1], "", 1) != 1) return false;
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
  });
  EXPECT_EQ(code, 0);
}

// Another thread moves its memory to and fro and divides it, all the time.
class Mover {
 public:
  explicit Mover(bool divides) : divides_(divides) {
    mmap(at_, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (unsigned i = 0; i < kPages; ++i) fill(at_ + i * kPage, kPage, i);
    right_ = promote(at_ + kPage, kBytes - 2 * kPage).done();
    thread_ = std::thread([this] {
      while (!over_) move();
    });
  }
  ~Mover() {
    over_ = true;
    thread_.join();
    munmap(at_, kBytes);
  }
  bool is_right() const { return right_; }
  // Returns true in a child if each page is there, and is this process's own. Where the process
  // leaves, the kernel may have been asked for a page that had just been moved: it is there twice.
  bool is_whole_in_child() const {
    for (unsigned i = 0; i < kPages; ++i) {
      int found = 0;
      for (std::byte* const page : {kFirst + i * kPage, kFirst + kMega + i * kPage}) {
        std::byte seen[kPage];
        const iovec to{seen, kPage}, from{page, kPage};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != kPage) continue;
        found += differs(seen, kPage, i) == kPage;
        mprotect(page, kPage, PROT_READ | PROT_WRITE);
        std::memset(page, 0, kPage);
      }
      if (found < 1 || (divides_ && found > 1)) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned kPages = 12;
  static constexpr std::size_t kBytes = kPages * kPage;
  static inline std::byte* const kFirst = pointer(kApart);

  void move() {
    for (unsigned i = 0; i < kPages; ++i) {
      std::byte* const page = at_ + i * kPage;
      if (divides_ && i % 3 == 0) mprotect(page, kPage, PROT_READ);
      right_ = right_ && differs(page, kPage, i) == kPage;
    }
    mprotect(at_, kBytes, PROT_READ | PROT_WRITE);
    std::byte* const to = at_ == kFirst ? kFirst + kMega : kFirst;
    right_ = right_ &&
             remap(at_, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, to, system_mremap) == to;
    at_ = to;
  }

  const bool divides_;
  std::byte* at_ = kFirst;
  std::atomic<bool> over_{false}, right_{false};
  std::thread thread_;
};

// A process that leaves does not see an mprotect() between two of its system calls.
// ThreadSanitizer takes what it does for writes.
TEST(Leaving, ForksBesideAThreadThatMovesAndDividesMemory) {
  for (int i = 0; i < 40; ++i) {
    const bool leaves = i % 2 && !kSanitized;
    const int code = in_child([&] {
      Settings settings = test_settings();
      if (leaves) settings.most_copied = 0;
      if (open(settings) != Refusal::none) return status() != Refusal::forked;
      Mover mover(!leaves);
      for (int fork = 0; fork < 5; ++fork) {
        if (in_child([&] { return mover.is_whole_in_child(); }) != 0) return false;
      }
      return mover.is_right();
    });
    ASSERT_EQ(code, 0) << i;
  }
}

// While peers may reach into the memory it stays as it is, however much it is.
TEST(Leaving, MemoryInUseStays) {
  const int code = in_child([] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    Much much;
    begin_use();
    if (!promote(much.pages.data(), much.pages.size()).done()) return false;
    const int result = in_child(
        [&] { return differs(much.pages.data(), much.pages.size(), 1) == much.pages.size(); });
    const bool stays = mapped(much.pages.data(), much.pages.size());
    end_use();
    return result == 0 && stays && in_child([&] { return much.is_private(1); }) == 0 &&
           !mapped(much.pages.data(), much.pages.size());
  });
  EXPECT_EQ(code, 0);
}

// A child that is stopped keeps nobody waiting.
TEST(Leaving, NobodyWaitsForTheChild) {
  const int code = in_child([] {
    // This handler runs before those of promotion.
    pthread_atfork(nullptr, nullptr, [] { raise(SIGSTOP); });
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    const Pages pages(kMega);
    fill(pages.data(), pages.size(), 1);
    if (!promote(pages.data(), pages.size()).done()) return false;
    const pid_t child = fork();
    if (child == 0) _exit(differs(pages.data(), pages.size(), 1) == pages.size() ? 0 : 1);
    fill(pages.data(), pages.size(), 2);
    int status = 0;
    if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) return false;
    kill(child, SIGCONT);
    return waitpid(child, &status, 0) == child && status == 0;
  });
  EXPECT_EQ(code, 0);
}

// Memory that is freed after the end goes with the last of it.
TEST(Leaving, NothingIsHeldAfterTheEnd) {
  const int code = in_child([] {
    if (open(test_settings()) != Refusal::none) return status() != Refusal::forked;
    Pages* const first = new Pages(kMega);
    Pages* const second = new Pages(kMega);
    fill(second->data(), kMega, 2);
    if (!promote(first->data(), kMega).done() || !promote(second->data(), kMega).done())
      return false;
    delete first;
    const int file = dup(promotion::file().descriptor);
    end();
    struct stat now = {};
    if (fstat(file, &now) != 0 || now.st_blocks * 512 > static_cast<long>(kMega)) return false;
    if (mapped(second->data(), kMega) || status() != Refusal::file_lost) return false;
    // The memory works as before.
    if (advise(second->data(), 2 * kPage, MADV_DONTNEED, madvise) != 0) return false;
    if (nonzero(second->data(), 2 * kPage) != 2 * kPage) return false;
    return in_child([&] {
             for (std::size_t i = 2 * kPage; i < kMega; ++i) {
               if (second->data()[i] != pattern(i, 2)) return false;
             }
             return true;
           }) == 0;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace sumac::promotion

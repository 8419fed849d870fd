// SPDX-License-Identifier: BSD-3-Clause
// The child of a fork has copies of its parent's promoted memory.
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <thread>

#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

// There are several kinds of promoted memory, with parts that are not promoted.
struct Memory {
  Pages first{40 * kPage}, huge{2 * kMega, kHugePage}, moved{8 * kPage}, closed{8 * kPage};
  std::vector<std::byte> heap = std::vector<std::byte>(300'000);

  Memory() {
    if (!test_without().collapses) madvise(huge.data(), huge.size(), MADV_HUGEPAGE);
    change(1);
  }
  bool promote_all() {
    return promote(first.data() + 5 * kPage + 7, 20 * kPage).done() &&
           promote(huge.data(), huge.size()).done() &&
           promote(closed.data(), closed.size()).done() && promote(heap.data(), heap.size()).done();
  }
  void change(unsigned seed) {
    fill(first.data(), first.size(), seed);
    fill(huge.data(), huge.size(), seed);
    fill(closed.data(), closed.size(), seed);
    fill(heap.data(), heap.size(), seed);
  }
  bool holds(unsigned seed) const {
    return differs(first.data(), first.size(), seed) == first.size() &&
           differs(huge.data(), huge.size(), seed) == huge.size() &&
           differs(closed.data(), closed.size(), seed) == closed.size() &&
           differs(heap.data(), heap.size(), seed) == heap.size();
  }
};

TEST(Fork, ChildAndParentWriteToTheirOwn) {
  SUMAC_NEED_PROMOTION();
  signal(SIGPIPE, SIG_IGN);
  Memory memory;
  ASSERT_TRUE(memory.promote_all());
  for (unsigned round = 2; round < 8; round += 2) {
    memory.change(round);
    int to_child[2], to_parent[2];
    ASSERT_EQ(pipe(to_child), 0);
    ASSERT_EQ(pipe(to_parent), 0);
    char byte = 0;
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      // The parent has written by now.
      if (read(to_child[0], &byte, 1) != 1) _exit(2);
      if (!memory.holds(round)) _exit(3);
      memory.change(round + 1);
      if (write(to_parent[1], "", 1) != 1 || read(to_child[0], &byte, 1) != 1) _exit(4);
      if (!memory.holds(round + 1)) _exit(5);
      if (status() != Refusal::forked || mapped(memory.huge.data(), memory.huge.size())) _exit(6);
      // The child can have children, too.
      _exit(in_child([&] { return memory.holds(round + 1); }));
    }
    close(to_parent[1]);  // the read then sees the end of a child that fails
    close(to_child[0]);
    memory.change(100 + round);
    ASSERT_EQ(write(to_child[1], "", 1), 1);
    ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
    EXPECT_TRUE(memory.holds(100 + round)) << "what the child wrote";
    ASSERT_TRUE(mapped(memory.huge.data(), memory.huge.size()));
    memory.change(200 + round);
    ASSERT_EQ(write(to_child[1], "", 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(memory.holds(200 + round));
    close(to_parent[0]);
    close(to_child[1]);
  }
}

// The parent writes as soon as fork() has returned, and must not be early.
TEST(Fork, TheChildsCopyIsOlderThanWhatTheParentWritesNext) {
  SUMAC_NEED_PROMOTION();
  Memory memory;
  ASSERT_TRUE(memory.promote_all());
  for (unsigned round = 0; round < 8; ++round) {
    memory.change(round);
    const pid_t child = fork();
    if (child == 0) _exit(memory.holds(round) ? 0 : 1);
    memory.change(round + 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << round;
  }
}

TEST(Fork, ProtectionAndHolesAreKept) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(12 * kPage);
  fill(pages.data(), pages.size(), 1);
  ASSERT_TRUE(promote(pages.data(), pages.size()).done());
  ASSERT_EQ(advise(pages.data() + kPage, kPage, MADV_DONTNEED, madvise), 0);
  mprotect(pages.data() + 4 * kPage, kPage, PROT_READ);
  mprotect(pages.data() + 6 * kPage, kPage, PROT_NONE);
  const auto is_right = [&] {
    mprotect(pages.data() + 6 * kPage, kPage, PROT_READ);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const std::byte expected = i / kPage == 1 ? std::byte{0} : pattern(i, 1);
      if (pages.data()[i] != expected) return false;
    }
    return true;
  };
  EXPECT_EQ(in_child(is_right), 0);
  // The kernel must not write there any more than the child itself.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "ab", 2), 2);
  EXPECT_EQ(in_child([&] {
              for (const std::size_t page : {4u, 6u}) {
                if (read(ends[0], pages.data() + page * kPage, 1) >= 0) return false;
              }
              return read(ends[0], pages.data() + 5 * kPage, 1) == 1;
            }),
            0);
  close(ends[0]);
  close(ends[1]);
}

TEST(Fork, ThreadsForkAtTheSameTimeWhileOthersPromote) {
  SUMAC_NEED_PROMOTION();
  std::atomic<int> wrong{0}, running{3};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const Pages pages(64 * kPage);
      for (unsigned round = 0; round < 8; ++round) {
        fill(pages.data(), pages.size(), t * 100 + round);
        while (promote(pages.data(), pages.size()).refusal == Refusal::busy) {
          std::this_thread::yield();
        }
        const pid_t child = fork();
        if (child == 0) {
          _exit(differs(pages.data(), pages.size(), t * 100 + round) != pages.size());
        }
        fill(pages.data(), pages.size(), 7);
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) ++wrong;
        // The memory becomes private again, by other means.
        mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
      }
      --running;
    });
  }
  while (running > 0) sweep(64);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Fork, NoDescriptorIsLeft) {
  SUMAC_NEED_PROMOTION();
  Memory memory;
  ASSERT_TRUE(memory.promote_all());
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{200, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> taken;
  for (int fd = dup(0); fd >= 0; fd = dup(0)) taken.push_back(fd);
  for (unsigned round = 0; round < 4; ++round) {
    memory.change(round);
    const pid_t child = fork();
    if (child == 0) _exit(memory.holds(round) ? 0 : 1);
    memory.change(round + 1);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << round;
  }
  for (const int fd : taken) close(fd);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(Fork, AForkThatFailsDoesNotHang) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(8 * kPage);
  fill(pages.data(), pages.size(), 1);
  ASSERT_TRUE(promote(pages.data(), pages.size()).done());
  rlimit before = {};
  getrlimit(RLIMIT_NPROC, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NPROC, &none);
  const pid_t child = fork();  // root may have as many as it likes
  if (child == 0) _exit(0);
  setrlimit(RLIMIT_NPROC, &before);
  if (child > 0) waitpid(child, nullptr, 0);
  EXPECT_TRUE(promote(pages.data(), pages.size()).done()) << "the lock is free";
  EXPECT_EQ(differs(pages.data(), pages.size(), 1), pages.size());
}

TEST(Fork, SpawnAndVforkAreUntouched) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(8 * kPage);
  fill(pages.data(), pages.size(), 1);
  ASSERT_TRUE(promote(pages.data(), pages.size()).done());
  EXPECT_EQ(system("exit 3"), 3 << 8);
  const pid_t child = vfork();
  if (child == 0) _exit(4);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 4 << 8);
  EXPECT_TRUE(mapped(pages.data(), pages.size()));
  EXPECT_EQ(differs(pages.data(), pages.size(), 1), pages.size());
}

}  // namespace
}  // namespace sumac::promotion

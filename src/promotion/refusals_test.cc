// SPDX-License-Identifier: BSD-3-Clause
// The tests check what is not promoted.
#include <fcntl.h>

#include <string>
#include <thread>

#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

// Expects that a refused range is as it was, and that it was counted.
void expect_refusal(std::byte* data, std::size_t bytes, Refusal expected, const char* what) {
  const std::uint64_t before = counts().refusals[static_cast<int>(expected)];
  const Outcome outcome = promote(data, bytes);
  EXPECT_EQ(refusal_text(outcome.refusal), std::string(refusal_text(expected))) << what;
  EXPECT_EQ(outcome.bytes, 0u) << what;
  EXPECT_FALSE(mapped(data, bytes)) << what;
  EXPECT_EQ(counts().refusals[static_cast<int>(expected)], before + 1) << what;
}

constexpr std::size_t kBytes = 8 * kPage;

TEST(Refusals, TooSmall) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(kBytes);
  expect_refusal(pages.data(), kPage - 1, Refusal::too_small, "less than a page");
  expect_refusal(pages.data() + 1, 2 * kPage - 2, Refusal::too_small, "no whole page");
  expect_refusal(pages.data(), 0, Refusal::too_small, "nothing");
}

TEST(Refusals, Stacks) {
  SUMAC_NEED_PROMOTION();
  std::byte own[kBytes];
  expect_refusal(own, kBytes, Refusal::stack, "the main thread's");
  std::thread([&] {
    std::byte other[kBytes];
    expect_refusal(other, kBytes, Refusal::stack, "a thread's own");
    std::thread([&] {
      expect_refusal(other, kBytes, Refusal::stack, "another thread's");
      expect_refusal(own, kBytes, Refusal::stack, "the main thread's, by another one");
    }).join();
  }).join();
}

TEST(Refusals, NotPrivate) {
  SUMAC_NEED_PROMOTION();
  const auto map = [](int flags, int fd) {
    return static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, fd, 0));
  };
  const int fd = memfd_create("other", 0);
  ASSERT_EQ(ftruncate(fd, kBytes), 0);
  for (std::byte* data :
       {map(MAP_SHARED, fd), map(MAP_PRIVATE, fd), map(MAP_SHARED | MAP_ANONYMOUS, -1)}) {
    expect_refusal(data, kBytes, Refusal::not_private, "a file's or shared");
    munmap(data, kBytes);
    expect_refusal(data, kBytes, Refusal::not_private, "nothing there");
  }
  close(fd);
  const Pages pages(kBytes);
  munmap(pages.data() + 3 * kPage, kPage);
  expect_refusal(pages.data(), kBytes, Refusal::not_private, "a gap");
}

TEST(Refusals, Permission) {
  SUMAC_NEED_PROMOTION();
  for (const int protection : {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE | PROT_EXEC}) {
    const Pages pages(kBytes);
    mprotect(pages.data() + kPage, kPage, protection);
    expect_refusal(pages.data(), kBytes, Refusal::permission, "a page in the middle");
  }
}

TEST(Refusals, Locked) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(kBytes);
  if (kSanitized || mlock(pages.data() + kPage, kPage) != 0) GTEST_SKIP() << "mlock is not allowed";
  expect_refusal(pages.data(), kBytes, Refusal::locked, "a page in the middle");
  munlock(pages.data() + kPage, kPage);
  EXPECT_TRUE(promote(pages.data(), kBytes).done());
}

TEST(Refusals, Special) {
  SUMAC_NEED_PROMOTION();
  for (const int advice : {MADV_DONTFORK, MADV_WIPEONFORK, MADV_DONTDUMP}) {
    const Pages pages(kBytes);
    ASSERT_EQ(madvise(pages.data() + kPage, kPage, advice), 0);
    expect_refusal(pages.data(), kBytes, Refusal::special, "a page in the middle");
  }
  for (const int advice : {MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_SEQUENTIAL, MADV_RANDOM}) {
    const Pages pages(kBytes);
    madvise(pages.data() + kPage, kPage, advice);
    EXPECT_TRUE(promote(pages.data(), kBytes).done()) << advice;
  }
}

// Promotion would make all pages real. Pages that were only read count as used.
TEST(Refusals, Untouched) {
  SUMAC_NEED_PROMOTION();
  auto* const data = static_cast<std::byte*>(
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  expect_refusal(data, kBytes, Refusal::untouched, "no page");
  fill(data, kBytes / 2 - kPage, 1);
  expect_refusal(data, kBytes, Refusal::untouched, "less than half of the pages");
  EXPECT_EQ(nonzero(data + kBytes / 2 - kPage, kPage), kPage);
  EXPECT_TRUE(promote(data, kBytes).done());
  EXPECT_EQ(differs(data, kBytes / 2 - kPage, 1), kBytes / 2 - kPage);
  munmap(data, kBytes);
}

TEST(Refusals, ScatteredAndInPieces) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(64 * kPage);
  for (std::size_t i = 0; i < 64; i += 2) {
    madvise(pages.data() + i * kPage, kPage, MADV_SEQUENTIAL);
  }
  expect_refusal(pages.data(), 64 * kPage, Refusal::scattered, "64 mappings");
  fill(pages.data(), 64 * kPage, 1);
  EXPECT_TRUE(promote(pages.data(), 10 * kPage).done());
  EXPECT_TRUE(mapped(pages.data(), 10 * kPage));
  EXPECT_EQ(differs(pages.data(), 64 * kPage, 1), 64 * kPage);
}

}  // namespace
}  // namespace sumac::promotion

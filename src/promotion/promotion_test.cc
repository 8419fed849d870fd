// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/promotion.h"

#include <fcntl.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "promotion/page_state.h"
#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

TEST(Promotion, KeepsTheDataOfRandomRanges) {
  SUMAC_NEED_PROMOTION();
  std::mt19937 random = test_random();
  for (unsigned round = 0; round < 40; ++round) {
    const std::size_t size = kPage * (2 + random() % (round % 10 == 0 ? 9000 : 200));
    const Pages pages(size, round % 3 == 0 ? kHugePage : kPage);
    if (round % 2 && !test_without().collapses) madvise(pages.data(), size, MADV_HUGEPAGE);
    fill(pages.data(), size, round);
    const std::size_t begin = random() % size, bytes = random() % (size - begin + 1);
    const Range inside = interior(pages.data() + begin, bytes);
    const Outcome outcome = promote(pages.data() + begin, bytes);
    ASSERT_EQ(outcome.refusal, inside.empty() ? Refusal::too_small : Refusal::none)
        << refusal_text(outcome.refusal);
    ASSERT_EQ(outcome.bytes, inside.bytes());
    ASSERT_EQ(mapped(pages.data() + begin, bytes), !inside.empty());
    ASSERT_EQ(differs(pages.data(), size, round), size) << "round " << round;
    if (inside.begin > range_of(pages.data(), 0).begin) {
      ASSERT_FALSE(mapped(pointer(inside.begin - kPage), 2 * kPage)) << "the page before";
    }
    // The rest is promoted as well, and what is promoted stays.
    const Outcome all = promote(pages.data(), size);
    ASSERT_TRUE(all.done());
    ASSERT_EQ(all.bytes, size - inside.bytes());
    ASSERT_TRUE(mapped(pages.data(), size));
    ASSERT_EQ(differs(pages.data(), size, round), size);
    const Window window(pages.data(), size);
    ASSERT_EQ(differs(window.data(), size, round), size);
  }
}

TEST(Promotion, APeerSeesWritesAndTheOwnerThePeers) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(3 * kMega);
  fill(pages.data(), pages.size(), 1);
  ASSERT_TRUE(promote(pages.data(), pages.size()).done());
  const FileIdentity own = file();
  const pid_t pid = getpid();
  const int code = in_child([&] {
    // The child's own pages are copies by now, so it looks at its parent's as any process would.
    const std::string path =
        "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(own.descriptor);
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat found = {};
    if (fstat(fd, &found) || found.st_ino != own.inode || found.st_dev != own.device) return false;
    auto* window =
        static_cast<std::byte*>(mmap(nullptr, pages.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                     static_cast<off_t>(range_of(pages.data(), 0).begin)));
    if (differs(window, pages.size(), 1) != pages.size()) return false;
    fill(window, pages.size(), 2);
    return true;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(differs(pages.data(), pages.size(), 2), pages.size());
}

// The program's own arrays are promoted, and the heap below the break.
TEST(Promotion, StaticArraysAndTheHeap) {
  SUMAC_NEED_PROMOTION();
  static std::byte array[20 * kPage];
  auto* const heap = static_cast<std::byte*>(sbrk(20 * kPage));
  for (std::byte* data : {array, heap}) {
    fill(data, sizeof array, 8);
    const Outcome outcome = promote(data + 2 * kPage, 16 * kPage);
    EXPECT_TRUE(outcome.done()) << refusal_text(outcome.refusal);
    EXPECT_TRUE(mapped(data + 2 * kPage, 16 * kPage));
    EXPECT_EQ(differs(data, sizeof array, 8), sizeof array);
  }
}

// The buffer is in the middle of pages on which other data are written all the time.
TEST(Promotion, WritesToNeighboursOnItsEdgePagesAreNotLost) {
  SUMAC_NEED_PROMOTION();
  for (unsigned round = 0; round < 40; ++round) {
    const Pages pages(20 * kPage);
    fill(pages.data(), pages.size(), round);
    std::byte* const begin = pages.data() + 1000;
    const std::size_t bytes = 17 * kPage + 500;
    std::atomic<bool> stop{false}, started{false};
    std::atomic<std::uint64_t> lost{0}, last{0};
    std::thread neighbour([&] {
      auto* before = reinterpret_cast<volatile std::uint64_t*>(pages.data() + 992);
      auto* behind = reinterpret_cast<volatile std::uint64_t*>(pages.data() + 17 * kPage + 1504);
      auto* far = reinterpret_cast<volatile std::uint64_t*>(pages.data() + 19 * kPage);
      for (std::uint64_t i = 1; !stop; ++i) {
        // The value written last is still there.
        if (started && (*before != i - 1 || *behind != i - 1 || *far != i - 1)) ++lost;
        *before = i;
        *behind = i;
        *far = i;
        started = true;
        last = i;
      }
    });
    while (!started) std::this_thread::yield();
    ASSERT_TRUE(promote(begin, bytes).done());
    stop = true;
    neighbour.join();
    EXPECT_EQ(lost, 0u);
    std::uint64_t there = 0;
    std::memcpy(&there, pages.data() + 992, sizeof there);
    EXPECT_EQ(there, last.load());
    ASSERT_TRUE(mapped(begin, bytes));
    for (std::size_t i = 1000; i < 17 * kPage + 1500; ++i) {
      ASSERT_EQ(pages.data()[i], pattern(i, round)) << i;
    }
  }
}

// Another thread may read a send buffer at any time.
TEST(Promotion, ReadersSeeTheDataAllTheTime) {
  SUMAC_NEED_PROMOTION();
  std::atomic<bool> stop{false};
  std::atomic<std::byte*> watched{nullptr};
  std::atomic<int> wrong{0};
  constexpr std::size_t kBytes = 200 * kPage;
  std::thread reader([&] {
    while (!stop) {
      const std::byte* data = watched.load();
      if (data && differs(data, kBytes, 5) != kBytes) ++wrong;
    }
  });
  std::vector<std::unique_ptr<Pages>> all;
  for (int round = 0; round < 30; ++round) {
    all.push_back(std::make_unique<Pages>(kBytes));
    fill(all.back()->data(), kBytes, 5);
    watched = all.back()->data();
    EXPECT_TRUE(promote(all.back()->data(), kBytes).done());
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Promotion, HugePagesStayHuge) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(8 * kMega, kHugePage);
  madvise(pages.data(), pages.size(), MADV_HUGEPAGE);
  fill(pages.data(), pages.size(), 3);
  {
    const Pages trial(kHugePage, kHugePage);
    const Window window(trial.data(), kHugePage);
    window.data()[0] = std::byte{1};
    const bool works = madvise(window.data(), kHugePage, kCollapse) == 0;
    madvise(window.data(), kHugePage, MADV_REMOVE);
    if (!works) GTEST_SKIP() << "no huge pages here";
  }
  if (test_without().collapses) {
    EXPECT_EQ(promote(pages.data(), pages.size()).refusal, Refusal::huge);
    EXPECT_EQ(differs(pages.data(), pages.size(), 3), pages.size());
    return;
  }
  const std::uint64_t before = counts().huge_bytes;
  ASSERT_TRUE(promote(pages.data() + 100, pages.size() - 100).done());
  const std::uint64_t huge = counts().huge_bytes - before;
  EXPECT_EQ(differs(pages.data(), pages.size(), 3), pages.size());
  EXPECT_EQ(huge, 6 * kMega);
}

TEST(Promotion, ReleasedMemoryReadsAsZeros) {
  SUMAC_NEED_PROMOTION();
  for (const int advice : {MADV_DONTNEED, MADV_FREE, MADV_DONTNEED}) {
    const Pages pages(64 * kPage);
    fill(pages.data(), pages.size(), 4);
    // The first eight and the last eight pages are not promoted.
    ASSERT_TRUE(promote(pages.data() + 8 * kPage, 48 * kPage).done());
    const Window window(pages.data(), pages.size());
    const std::uint64_t used = counts().used_bytes;
    ASSERT_EQ(advise(pages.data() + 4 * kPage, 20 * kPage, advice, madvise), 0);
    EXPECT_EQ(used - counts().used_bytes, 16 * kPage);
    EXPECT_EQ(nonzero(pages.data() + 8 * kPage, 16 * kPage), 16 * kPage);
    EXPECT_EQ(nonzero(window.data() + 8 * kPage, 16 * kPage), 16 * kPage);
    EXPECT_EQ(differs(pages.data(), 4 * kPage, 4), 4 * kPage);
    for (std::size_t i = 24 * kPage; i < pages.size(); ++i) {
      ASSERT_EQ(pages.data()[i], pattern(i, 4)) << i;
    }
    if (advice == MADV_DONTNEED) {
      EXPECT_EQ(nonzero(pages.data() + 4 * kPage, 4 * kPage), 4 * kPage) << "the private part";
    }
    // The memory is as good as before.
    EXPECT_TRUE(mapped(pages.data() + 8 * kPage, 48 * kPage));
    fill(pages.data(), pages.size(), 6);
    EXPECT_EQ(std::memcmp(window.data() + 8 * kPage, pages.data() + 8 * kPage, 48 * kPage), 0);
  }
}

TEST(Promotion, AdviceElsewhereIsTheKernels) {
  SUMAC_NEED_PROMOTION();
  const Pages pages(4 * kPage);
  fill(pages.data(), pages.size(), 7);
  EXPECT_EQ(advise(pages.data() + 1, kPage, MADV_DONTNEED, madvise), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(advise(pages.data(), kPage, MADV_DONTNEED, madvise), 0);
  EXPECT_EQ(nonzero(pages.data(), kPage), kPage);
  EXPECT_EQ(advise(pages.data(), kPage, 12345, madvise), -1);
  EXPECT_EQ(advise(nullptr, 0, MADV_DONTNEED, madvise), 0);
}

}  // namespace
}  // namespace sumac::promotion

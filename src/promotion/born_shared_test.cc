// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/born_shared.h"

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "promotion/promoted_buffer.h"

namespace sumac::promotion {
namespace {

// Memory that is given back at the end of its scope.
class Born {
 public:
  explicit Born(std::size_t bytes, std::size_t alignment = 1)
      : data_(static_cast<std::byte*>(allocate_shared(bytes, alignment))), size_(bytes) {}
  ~Born() { EXPECT_TRUE(!data_ || free_shared(data_)); }
  Born(const Born&) = delete;
  Born& operator=(const Born&) = delete;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
};

Settings settings() {
  Settings settings = test_settings();
  settings.huge_always = true;
  return settings;
}

#define SUMAC_NEED_BORN()                              \
  if (open(settings()) != Refusal::none) GTEST_SKIP(); \
  if (const Born tried(kMega); !tried.data())          \
  GTEST_SKIP() << "this system has huge pages for private memory only, or promises memory"

int mappings_of_file() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:sumac") != line.npos;
  return count;
}

// Nothing that promotion needs beyond the file is needed.
TEST(BornShared, IsThereWhereNothingIsPromoted) {
  if (closed() != Refusal::not_open) GTEST_SKIP() << "another test has opened the service";
  EXPECT_EQ(allocate_shared(kMega, 1), nullptr);
  const int code = in_child([] {
    Settings settings = test_settings();
    settings.promotes = settings.calls_caught = false;
    if (open(settings) != Refusal::not_open) return closed() != Refusal::none;
    auto* const data = static_cast<std::byte*>(allocate_shared(kMega, 1));
    if (!data) return true;
    const Pages other(kMega);
    return mapped(data, kMega) && promote(other.data(), kMega).refusal == Refusal::not_open &&
           free_shared(data);
  });
  EXPECT_EQ(code, 0);
}

TEST(BornShared, IsZeroedAndSeenByPeers) {
  SUMAC_NEED_BORN();
  for (const std::size_t size : {kLeastBorn, kLeastBorn + 1, kMega, 2 * kMega, 3 * kMega + 7}) {
    const Born born(size);
    ASSERT_TRUE(born.data());
    EXPECT_EQ(nonzero(born.data(), size), size);
    EXPECT_TRUE(mapped(born.data(), round_up(size, kPage)));
    EXPECT_TRUE(is_born_shared(born.data(), size));
    EXPECT_TRUE(is_born_shared(born.data() + size - 1, 1));
    EXPECT_FALSE(is_born_shared(born.data() - 1, 2));
    EXPECT_FALSE(is_born_shared(born.data(), round_up(size, kPage) + 1));
    const Window window(born.data(), size);
    fill(born.data(), size, 1);
    EXPECT_EQ(differs(window.data(), size, 1), size);
    fill(window.data(), size, 2);
    EXPECT_EQ(differs(born.data(), size, 2), size);
    // It is promoted already.
    EXPECT_EQ(promote(born.data(), size).bytes, 0u);
  }
}

TEST(BornShared, WhatTheMpiMustGive) {
  SUMAC_NEED_BORN();
  EXPECT_EQ(allocate_shared(kLeastBorn - 1, 1), nullptr);
  EXPECT_EQ(allocate_shared(0, 1), nullptr);
  EXPECT_EQ(allocate_shared(~std::size_t{0}, 1), nullptr);
  EXPECT_EQ(allocate_shared(std::size_t{1} << 60, 1), nullptr) << "more than all addresses";
  EXPECT_EQ(allocate_shared(kMega, 2 * kMostBornAlignment), nullptr);
  const Pages other(kMega);
  EXPECT_FALSE(free_shared(other.data()));
  EXPECT_FALSE(free_shared(nullptr));
  const Born born(kMega);
  EXPECT_FALSE(free_shared(born.data() + kPage)) << "not its beginning";
  EXPECT_FALSE(is_born_shared(other.data(), 1));
}

TEST(BornShared, LiesWhereItIsAskedTo) {
  SUMAC_NEED_BORN();
  for (std::size_t alignment = 1; alignment <= kMostBornAlignment; alignment *= 2) {
    const Born small(kLeastBorn, alignment), large(3 * kMega, alignment);
    EXPECT_EQ(range_of(small.data(), 0).begin % alignment, 0u);
    EXPECT_EQ(range_of(large.data(), 0).begin % std::max(alignment, kHugePage), 0u);
  }
}

// A peer sees only what lies in one window.
TEST(BornShared, LiesInOneWindow) {
  SUMAC_NEED_BORN();
  std::vector<std::unique_ptr<Born>> all;
  for (int i = 0; i < 12; ++i) {
    const std::size_t size = kPeerWindow / (i % 3 + 1);
    all.push_back(std::make_unique<Born>(size));
    ASSERT_TRUE(all.back()->data());
    const Range range = range_of(all.back()->data(), size);
    EXPECT_EQ(range.begin / kPeerWindow, (range.end - 1) / kPeerWindow);
  }
  const Born larger(3 * kPeerWindow);
  EXPECT_TRUE(larger.data());
}

TEST(BornShared, IsGivenBack) {
  SUMAC_NEED_BORN();
  const std::size_t before = counts().used_bytes;
  void* at = nullptr;
  for (unsigned round = 0; round < 20; ++round) {
    const Born born(8 * kMega);
    EXPECT_EQ(nonzero(born.data(), born.size()), born.size());
    fill(born.data(), born.size(), round);
    EXPECT_GE(counts().used_bytes, before + 8 * kMega);
    at = born.data();
  }
  EXPECT_EQ(counts().used_bytes, before);
  EXPECT_FALSE(mapped(at, kPage));
  EXPECT_FALSE(is_born_shared(at, kPage));
  EXPECT_FALSE(free_shared(at)) << "a second time";
}

// 10^4 rounds leave nothing.
TEST(BornShared, ManyRoundsLeaveNothing) {
  SUMAC_NEED_BORN();
  std::mt19937 random = test_random();
  const std::size_t used = counts().used_bytes;
  const int mappings = mappings_of_file();
  std::vector<std::unique_ptr<Born>> live(20);
  for (int round = 0; round < 10'000; ++round) {
    auto& one = live[random() % live.size()];
    one.reset();
    one = std::make_unique<Born>(kLeastBorn + random() % (3 * kMega));
    ASSERT_TRUE(one->data()) << round;
    one->data()[random() % one->size()] = std::byte{1};
    ASSERT_TRUE(random() % 4 != 0 || prepare_shared(one->data(), kLeastBorn));
  }
  EXPECT_LE(mappings_of_file(), mappings + static_cast<int>(2 * live.size()));
  live.clear();
  EXPECT_EQ(counts().used_bytes, used);
  EXPECT_EQ(mappings_of_file(), mappings);
}

TEST(BornShared, ThereAreOnlySoMany) {
  SUMAC_NEED_BORN();
  std::vector<std::unique_ptr<Born>> all;
  while (all.size() <= kMostBorn) {
    all.push_back(std::make_unique<Born>(kLeastBorn));
    if (!all.back()->data()) break;
  }
  EXPECT_LE(all.size(), kMostBorn + 1);
  EXPECT_GE(all.size(), kMostBorn / 2);
  all.clear();
  EXPECT_TRUE(Born(kLeastBorn).data());
}

TEST(BornShared, PagesAreThereBeforePeersCome) {
  SUMAC_NEED_BORN();
  const std::size_t before = counts().used_bytes;
  const Born born(16 * kMega);
  ASSERT_EQ(counts().used_bytes, before) << "no page that was not used";
  std::byte* const buffer = born.data() + 5000;
  fill(buffer, kMega, 3);
  for (int use = 0; use < 12; ++use) {
    ASSERT_TRUE(prepare_shared(buffer, 4 * kMega));
    ASSERT_EQ(differs(buffer, kMega, 3), kMega);
  }
  const bool populates = kernel_here().without(test_without()).populates;
  EXPECT_GE(counts().used_bytes, before + (populates ? 4 * kMega - 2 * kPage : kMega));
  EXPECT_LE(counts().used_bytes, before + 4 * kMega + 2 * kHugePage);
}

TEST(BornShared, AChildHasACopy) {
  SUMAC_NEED_BORN();
  const Born born(3 * kMega);
  const Window window(born.data(), born.size());
  fill(born.data(), born.size(), 4);
  const int code = in_child([&] {
    if (differs(born.data(), born.size(), 4) != born.size()) return false;
    fill(born.data(), born.size(), 5);
    usleep(20'000);
    if (differs(born.data(), born.size(), 5) != born.size()) return false;
    return !mapped(born.data(), born.size()) && allocate_shared(kMega, 1) == nullptr &&
           free_shared(born.data());
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(differs(born.data(), born.size(), 4), born.size());
  EXPECT_EQ(differs(window.data(), born.size(), 4), born.size());
  EXPECT_TRUE(mapped(born.data(), born.size()));
}

TEST(BornShared, AdviceMeansWhatItMeansForPrivateMemory) {
  SUMAC_NEED_BORN();
  for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
    const Born born(kMega);
    fill(born.data(), born.size(), 6);
    ASSERT_EQ(advise(born.data() + kPage, 2 * kPage, advice, ::madvise), 0);
    EXPECT_EQ(nonzero(born.data() + kPage, 2 * kPage), 2 * kPage);
    EXPECT_EQ(differs(born.data(), kPage, 6), kPage);
  }
}

// Memory that the program has unmapped itself comes back zeroed.
TEST(BornShared, WhatTheProgramUnmaps) {
  SUMAC_NEED_BORN();
  for (int round = 0; round < 20; ++round) {
    const Born born(4 * kMega);
    fill(born.data(), born.size(), 7);
    munmap(born.data() + kMega, kMega);
    EXPECT_TRUE(mapped(born.data(), kMega));
    EXPECT_FALSE(mapped(born.data(), 2 * kMega));
    const Born second(kLeastBorn);
    EXPECT_EQ(nonzero(second.data(), second.size()), second.size());
  }
}

// Threads allocate, use and free at the same time, and look for one another's buffers.
TEST(BornShared, Threads) {
  SUMAC_NEED_BORN();
  constexpr int kThreads = 4;
  std::atomic<std::byte*> shown[kThreads] = {};
  std::atomic<long> wrong{0};
  std::vector<std::thread> threads;
  for (int own = 0; own < kThreads; ++own) {
    threads.emplace_back([own, &shown, &wrong] {
      std::mt19937 random(static_cast<unsigned>(own));
      for (unsigned round = 0; round < 100; ++round) {
        const std::size_t size = kLeastBorn + random() % kMega;
        auto* const data = static_cast<std::byte*>(allocate_shared(size, 1));
        if (!data) {
          ++wrong;
          continue;
        }
        wrong += nonzero(data, size) != size;
        fill(data, size, round);
        wrong += !is_born_shared(data, size) || !mapped(data, size) || !prepare_shared(data, size);
        shown[own].store(data);
        // Another thread's memory may be gone by now.
        is_born_shared(shown[random() % kThreads].load(), kPage);
        wrong += differs(data, size, round) != size;
        shown[own].store(nullptr);
        wrong += !free_shared(data);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

// One thread forks while others allocate, write and free.
TEST(BornShared, ForkBesideThreads) {
  SUMAC_NEED_BORN();
  const Born born(kMega);
  fill(born.data(), born.size(), 8);
  std::atomic<bool> over{false};
  std::atomic<long> wrong{0};
  std::thread other([&] {
    for (unsigned round = 0; !over.load(); ++round) {
      const Born own(kLeastBorn + round % 7 * kPage);
      wrong += !own.data() || nonzero(own.data(), own.size()) != own.size();
      fill(own.data(), own.size(), round);
      wrong += differs(own.data(), own.size(), round) != own.size();
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_child([&] {
                const bool same = differs(born.data(), born.size(), 8) == born.size();
                fill(born.data(), born.size(), 9);
                return same;
              }),
              0);
  }
  over.store(true);
  other.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(differs(born.data(), born.size(), 8), born.size());
}

}  // namespace
}  // namespace sumac::promotion

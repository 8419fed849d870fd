// SPDX-License-Identifier: BSD-3-Clause
// The program gives memory back, moves it, and gets memory at the same address again.
#include <sys/syscall.h>

#include <array>
#include <cstdarg>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "promotion/promoted_buffer.h"

namespace {

// Before the tests begin, promotion may not have been initialised yet. The stub does not call it
// then either: it has not loaded it.
bool tests_have_begun = false;

struct Beginning : testing::Environment {
  void SetUp() override { tests_have_begun = true; }
};
[[maybe_unused]] const auto* const beginning =
    testing::AddGlobalTestEnvironment(new Beginning);  // GoogleTest deletes it

}  // namespace

// This madvise comes before the C library's, as that of libsumac.so does, so the calls of this
// program and of an allocator that is loaded with it come here.
extern "C" __attribute__((visibility("default"))) int madvise(void* address, std::size_t bytes,
                                                              int advice) noexcept {
  using namespace sumac::promotion;
  return tests_have_begun ? advise(address, bytes, advice, system_madvise)
                          : system_madvise(address, bytes, advice);
}
extern "C" __attribute__((visibility("default"))) void* mremap(void* address, std::size_t bytes,
                                                               std::size_t new_bytes, int flags,
                                                               ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  void* to = flags & ~MREMAP_MAYMOVE ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  using namespace sumac::promotion;
  return tests_have_begun ? remap(address, bytes, new_bytes, flags, to, system_mremap)
                          : system_mremap(address, bytes, new_bytes, flags, to);
}

namespace sumac::promotion {
namespace {

// Makes the system call, which Sumac does not see.
void* unseen_mremap(void* address, std::size_t bytes, void* to) {
  return reinterpret_cast<void*>(
      syscall(SYS_mremap, address, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to));
}

constexpr unsigned kRounds = kSanitized ? 100 : 1000;
constexpr int kReadWrite = PROT_READ | PROT_WRITE;

std::byte* map_at(void* address, std::size_t bytes, int flags = 0) {
  void* got = mmap(address, bytes, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
}

// Returns true if the file has memory for a part of the range.
bool in_file(const std::byte* address, std::size_t bytes) {
  const Range range = range_of(address, bytes);
  const off_t at = lseek(file().descriptor, static_cast<off_t>(range.begin), SEEK_DATA);
  return at >= 0 && range.contains(static_cast<std::uintptr_t>(at));
}

TEST(Reuse, AMappingAtTheSameAddressIsNotMapped) {
  SUMAC_NEED_PROMOTION();
  std::mt19937 random = test_random();
  std::byte* const place = map_at(nullptr, 64 * kPage);
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::size_t first = random() % 60, count = 1 + random() % (63 - first);
    std::byte* const at = place + first * kPage;
    const std::size_t bytes = count * kPage;
    fill(at, bytes, 1);
    ASSERT_TRUE(promote(at, bytes).done());
    ASSERT_TRUE(mapped(at, bytes));
    const std::size_t hole = random() % count;
    std::byte* const replaced = at + hole * kPage;
    switch (random() % 4) {
      case 0:
        munmap(replaced, kPage);
        ASSERT_FALSE(mapped(at, bytes));
        ASSERT_EQ(map_at(replaced, kPage, MAP_FIXED), replaced);
        break;
      case 1:
        ASSERT_EQ(map_at(replaced, kPage, MAP_FIXED), replaced);
        break;
      case 2: {
        std::byte* const other = map_at(nullptr, kPage);
        ASSERT_EQ(mremap(other, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, replaced), replaced);
        break;
      }
      default:
        mprotect(replaced, kPage, PROT_READ);
        // For a whole mapping this is not seen without PROCMAP_QUERY.
        ASSERT_TRUE(test_without().queries || !mapped(at, bytes));
        mprotect(replaced, kPage, kReadWrite);
        ASSERT_TRUE(mapped(at, bytes));
        continue;
    }
    ASSERT_FALSE(mapped(at, bytes));
    ASSERT_EQ(mapped(at, hole * kPage), hole > 0);
    ASSERT_EQ(nonzero(replaced, kPage), kPage) << "new memory is zero";
  }
  EXPECT_TRUE(in_file(place, 64 * kPage));
  munmap(place, 64 * kPage);
  sweep(1 << 20);
  EXPECT_FALSE(in_file(place, 64 * kPage));
}

// Returns true if a peer would see the same in the buffer's whole pages as the owner sees.
bool peer_sees(const std::byte* data, std::size_t bytes) {
  const Range inside = interior(data, bytes);
  std::vector<std::byte> seen(inside.bytes());
  const auto offset = static_cast<off_t>(inside.begin);
  return pread(file().descriptor, seen.data(), seen.size(), offset) ==
             static_cast<ssize_t>(seen.size()) &&
         std::memcmp(seen.data(), pointer(inside.begin), seen.size()) == 0;
}

struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  unsigned seed = 0;

  bool intact(std::size_t part) const { return differs(data, part, seed) == part; }
  void renew(void* at, std::size_t size, unsigned new_seed) {
    *this = {static_cast<std::byte*>(at), size, new_seed};
    fill(data, bytes, seed);
  }
};

// The test calls malloc, calloc, realloc and free in random order, and promotes some of the blocks.
TEST(Reuse, TheHeapKeepsItsData) {
  SUMAC_NEED_PROMOTION();
  std::array<Block, 12> blocks;
  std::mt19937 random = test_random();
  const auto size = [&] { return 1 + random() % (random() % 8 == 0 ? 400'000 : 40'000); };
  unsigned seen = 0;
  for (unsigned round = 0; round < 3 * kRounds; ++round) {
    Block& block = blocks[random() % blocks.size()];
    if (!block.data) {
      const std::size_t bytes = size();
      const bool clear = random() % 2;
      void* const got = clear ? std::calloc(bytes, 1) : std::malloc(bytes);
      if (clear) {
        ASSERT_EQ(nonzero(static_cast<std::byte*>(got), bytes), bytes);
      }
      block.renew(got, bytes, round);
      continue;
    }
    ASSERT_TRUE(block.intact(block.bytes)) << "round " << round;
    if (mapped(block.data, block.bytes)) {
      ASSERT_TRUE(peer_sees(block.data, block.bytes)) << "round " << round;
      ++seen;
    }
    const unsigned what = random() % 8;
    if (what < 4) {
      const Outcome outcome = promote(block.data, block.bytes);
      ASSERT_TRUE(outcome.done() || outcome.refusal == Refusal::too_small)
          << refusal_text(outcome.refusal);
      block.renew(block.data, block.bytes, round);
    } else if (what < 6) {
      const std::size_t bytes = size(), kept = std::min(bytes, block.bytes);
      block.data = static_cast<std::byte*>(std::realloc(block.data, bytes));
      ASSERT_TRUE(block.intact(kept)) << "round " << round;
      block.renew(block.data, bytes, round);
    } else {
      std::free(block.data);
      block = {};
    }
  }
  EXPECT_GT(seen, kRounds / 8);
  for (const Block& block : blocks) std::free(block.data);
}

// Returns a mapping that is not where the kernel began it, so that new pages do not join those
// beside it.
std::byte* moved_mapping(std::size_t bytes) {
  std::byte* const old = map_at(nullptr, bytes);
  fill(old, bytes, 1);
  return static_cast<std::byte*>(unseen_mremap(old, bytes, map_at(nullptr, bytes)));
}

bool grows(std::byte* at, std::size_t bytes, unsigned seed) {
  void* const moved = mremap(at, bytes, 2 * bytes, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return false;
  auto* const grown = static_cast<std::byte*>(moved);
  const bool right = differs(grown, bytes, seed) == bytes && nonzero(grown + bytes, bytes) == bytes;
  munmap(grown, 2 * bytes);
  return right;
}

TEST(Reuse, MovedMappingsCanGrow) {
  SUMAC_NEED_PROMOTION();
  constexpr std::size_t kBytes = 600 * kPage;
  for (unsigned round = 0; round < 10; ++round) {
    std::byte* const at = moved_mapping(kBytes);
    fill(at, kBytes, round);
    ASSERT_TRUE(promote(at + kPage, kBytes - 2 * kPage).done());
    ASSERT_TRUE(grows(at, kBytes, round));
  }
}

TEST(Reuse, MappingsCanGrowInAChild) {
  SUMAC_NEED_PROMOTION();
  constexpr std::size_t kBytes = 16 * kPage;
  for (const bool moved : {false, true}) {
    std::byte* const at = moved ? moved_mapping(kBytes) : map_at(nullptr, kBytes);
    fill(at, kBytes, 3);
    ASSERT_TRUE(promote(at + kPage, kBytes - 2 * kPage).done());
    EXPECT_EQ(in_child([&] { return grows(at, kBytes, 3); }), 0);
    EXPECT_TRUE(grows(at, kBytes, 3));
  }
}

// The memory is moved by the system call itself. Its place in the file stays in use, and is left
// alone.
TEST(Reuse, MovedMemoryKeepsItsPlaceInTheFile) {
  SUMAC_NEED_PROMOTION();
  std::mt19937 random = test_random();
  for (unsigned round = 0; round < 100; ++round) {
    constexpr std::size_t kBytes = 16 * kPage;
    std::byte* const old = map_at(nullptr, kBytes);
    // None has been promoted there (known_mappings.h says why that matters).
    std::byte* const place = map_at(pointer(kApart), kBytes);
    fill(old, kBytes, round);
    ASSERT_TRUE(promote(old, kBytes).done());
    const bool hole = round % 2;
    if (hole) madvise(old + 3 * kPage, kPage, MADV_DONTNEED);
    const std::size_t part = (1 + random() % 15) * kPage;
    ASSERT_EQ(unseen_mremap(old, part, place), place);
    EXPECT_FALSE(mapped(place, part));
    EXPECT_EQ(promote(place, part).refusal, Refusal::moved);
    ASSERT_EQ(map_at(old, part, MAP_FIXED), old);
    EXPECT_EQ(promote(old, kBytes).refusal, Refusal::moved);
    EXPECT_FALSE(mapped(old, part));
    if (hole && part >= 4 * kPage) {
      EXPECT_EQ(promote(old + 3 * kPage, kPage).refusal, Refusal::moved) << "a hole in use";
      for (std::size_t at = 3 * kPage; at < 4 * kPage; ++at) place[at] = pattern(at, round);
    }
    sweep(1 << 20);
    ASSERT_EQ(differs(place, part, round), part) << "round " << round;
    ASSERT_EQ(nonzero(old, part), part);
    munmap(place, kBytes);
    fill(old, kBytes, round + 1);
    ASSERT_TRUE(promote(old, kBytes).done());
    ASSERT_EQ(differs(old, kBytes, round + 1), kBytes);
    munmap(old, kBytes);
  }
}

int mappings_of_file() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("memfd:sumac") != line.npos;
  return count;
}

// Many buffers come and go. SUMAC_TEST_BUFFERS says how many.
TEST(Reuse, ManyBuffersLeaveNothing) {
  SUMAC_NEED_PROMOTION();
  constexpr std::size_t kAlive = 32, kMostPages = 8;
  const char* const wanted = std::getenv("SUMAC_TEST_BUFFERS");
  const int buffers = wanted ? std::atoi(wanted) : 2000;
  std::mt19937 random = test_random();
  std::array<std::unique_ptr<Pages>, kAlive> alive;
  sweep(kAllSteps);
  const int mappings = mappings_of_file();
  const std::uint64_t before = counts().used_bytes;
  for (int i = 0; i < buffers; ++i) {
    std::unique_ptr<Pages>& place = alive[random() % kAlive];
    place = std::make_unique<Pages>((1 + random() % kMostPages) * kPage);
    fill(place->data(), place->size(), static_cast<unsigned>(i));
    ASSERT_TRUE(promote(place->data(), place->size()).done());
    ASSERT_EQ(differs(place->data(), place->size(), static_cast<unsigned>(i)), place->size());
    if (i % 256 == 255) sweep(kAllSteps);
    ASSERT_LE(counts().used_bytes, before + (256 + kAlive) * kMostPages * kPage);
    if (i % 64 == 0) {
      ASSERT_LE(mappings_of_file(), mappings + static_cast<int>(kAlive));
    }
  }
  alive = {};
  sweep(kAllSteps);
  EXPECT_LE(counts().used_bytes, before);
}

TEST(Reuse, SweepGivesBackWhatIsUnmapped) {
  SUMAC_NEED_PROMOTION();
  const std::uint64_t before = counts().swept_bytes;
  std::vector<std::byte*> kept, gone;
  for (int i = 0; i < 200; ++i) {
    std::byte* const data = map_at(nullptr, 4 * kPage);
    fill(data, 4 * kPage, static_cast<unsigned>(i));
    ASSERT_TRUE(promote(data, 4 * kPage).done());
    (i % 2 ? kept : gone).push_back(data);
  }
  for (std::byte* data : gone) munmap(data, 4 * kPage);
  // The sweeps take a few steps at a time, round and round.
  for (int i = 0; i < 400; ++i) sweep(2);
  for (const std::byte* data : gone) EXPECT_FALSE(in_file(data, 4 * kPage));
  for (const std::byte* data : kept) EXPECT_TRUE(in_file(data, 4 * kPage));
  EXPECT_GE(counts().swept_bytes - before, gone.size() * 4 * kPage);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(differs(kept[i], 4 * kPage, static_cast<unsigned>(2 * i + 1)), 4 * kPage);
    munmap(kept[i], 4 * kPage);
  }
  for (int i = 0; i < 2; ++i) sweep(1 << 20);
  for (const std::byte* data : kept) EXPECT_FALSE(in_file(data, 4 * kPage));
}

}  // namespace
}  // namespace sumac::promotion

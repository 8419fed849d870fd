// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/strided_copy.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "kernels/reduce.h"

namespace sumac {
namespace {

// The memory lies between two pages that must not be touched.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    inner_ = (bytes + page_ - 1) / page_ * page_;
    whole_ = static_cast<std::byte*>(
        mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(whole_ + page_, inner_, PROT_READ | PROT_WRITE);
  }
  ~Guarded() { munmap(whole_, inner_ + 2 * page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  std::byte* begin() { return whole_ + page_; }
  std::byte* end() { return begin() + inner_; }

 private:
  std::size_t page_, inner_;
  std::byte* whole_;
};

constexpr std::size_t kRoom = 96 * 1024;

void fill(std::byte* at, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) at[i] = static_cast<std::byte>(i * 31 + i / 256 + seed);
}

struct Case {
  std::size_t block, count;
  std::ptrdiff_t stride;
  std::size_t extent() const {
    return (count - 1) * static_cast<std::size_t>(stride < 0 ? -stride : stride) + block;
  }
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (std::size_t block : {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 31, 32, 40, 48, 64, 100}) {
    for (std::size_t count : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130}) {
      for (std::size_t times : {1, 2, 3, 4, 5, 9}) {
        const auto stride = static_cast<std::ptrdiff_t>(block * times);
        for (std::ptrdiff_t other : {stride, stride + 1, -stride}) {
          const Case one{block, count, other};
          if (one.extent() <= kRoom) result.push_back(one);
        }
      }
      const Case far{block, count, 700};
      if (far.extent() <= kRoom) result.push_back(far);
    }
  }
  return result;
}

// Returns where the first block lies. The strided side ends, and with `at_begin` begins, where
// memory does.
std::byte* first_block(Guarded& memory, const Case& c, bool at_begin) {
  std::byte* const lowest = at_begin ? memory.begin() : memory.end() - c.extent();
  return c.stride < 0 ? lowest + (c.extent() - c.block) : lowest;
}

class Strided : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(force_simd(GetParam().c_str())); }
  void TearDown() override { force_simd("auto"); }
};

TEST_P(Strided, gathers_as_single_copies_do) {
  Guarded memory(kRoom), packed(kRoom);
  fill(memory.begin(), kRoom, 1);
  for (const Case& c : cases()) {
    for (const bool at_begin : {false, true}) {
      const std::byte* const from = first_block(memory, c, at_begin);
      std::byte* const to = packed.end() - c.block * c.count;
      fill(to, c.block * c.count, 77);
      copy_blocks(to, static_cast<std::ptrdiff_t>(c.block), from, c.stride, c.block, c.count);
      for (std::size_t i = 0; i < c.count; ++i) {
        ASSERT_EQ(0, std::memcmp(to + i * c.block, from + static_cast<std::ptrdiff_t>(i) * c.stride,
                                 c.block))
            << c.block << " bytes, " << c.count << " times at " << c.stride << ", block " << i;
      }
    }
  }
}

TEST_P(Strided, scatters_as_single_copies_do) {
  Guarded memory(kRoom), packed(kRoom);
  fill(packed.begin(), kRoom, 1);
  std::vector<std::byte> expected(kRoom);
  for (const Case& c : cases()) {
    for (const bool at_begin : {false, true}) {
      fill(memory.begin(), kRoom, 5);
      std::memcpy(expected.data(), memory.begin(), kRoom);
      std::byte* const to = first_block(memory, c, at_begin);
      const std::byte* const from = packed.end() - c.block * c.count;
      for (std::size_t i = 0; i < c.count; ++i) {
        std::memcpy(
            expected.data() + (to - memory.begin()) + static_cast<std::ptrdiff_t>(i) * c.stride,
            from + i * c.block, c.block);
      }
      copy_blocks(to, c.stride, from, static_cast<std::ptrdiff_t>(c.block), c.block, c.count);
      ASSERT_EQ(0, std::memcmp(expected.data(), memory.begin(), kRoom))
          << c.block << " bytes, " << c.count << " times at " << c.stride;
    }
  }
}

// The blocks lie in so many lines that they are requested ahead.
TEST(Far, copies_as_single_copies_do) {
  constexpr std::size_t kBlock = 8, kCount = 70000;
  std::vector<std::byte> packed(kBlock * kCount), again(packed.size());
  for (const std::ptrdiff_t stride : {512, 520, -520}) {
    const Case c{kBlock, kCount, stride};
    std::vector<std::byte> memory(c.extent()), target(c.extent());
    fill(memory.data(), memory.size(), 3);
    const std::size_t first = stride < 0 ? c.extent() - kBlock : 0;
    copy_blocks(packed.data(), kBlock, memory.data() + first, stride, kBlock, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      std::memcpy(again.data() + i * kBlock,
                  memory.data() + first + static_cast<std::ptrdiff_t>(i) * stride, kBlock);
    }
    ASSERT_EQ(again, packed) << stride;
    copy_blocks(target.data() + first, stride, packed.data(), kBlock, kBlock, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      std::byte* const block = target.data() + first + static_cast<std::ptrdiff_t>(i) * stride;
      ASSERT_EQ(0, std::memcmp(block, packed.data() + i * kBlock, kBlock)) << stride << ", " << i;
      std::memset(block, 0, kBlock);
    }
    ASSERT_EQ(target, std::vector<std::byte>(target.size())) << stride;
  }
}

// The rows of a matrix's tile become columns, in memory that ends where the tile does.
TEST(Grid, turns_as_single_copies_do) {
  Guarded matrix(kRoom), tile(kRoom);
  fill(matrix.begin(), kRoom, 1);
  std::vector<std::byte> expected(kRoom);
  for (const std::size_t block : {1, 2, 3, 4, 5, 8, 12, 16, 31, 32, 48, 64}) {
    for (const std::size_t blocks : {std::size_t{1}, std::size_t{3}, 64 / block, std::size_t{17}}) {
      for (const std::size_t rows : {0, 1, 2, 7, 20}) {
        if (blocks == 0) continue;
        const std::size_t pitch = blocks * block + 5, bytes = blocks * rows * block;
        if (rows * pitch > kRoom || bytes > kRoom) continue;
        const GridStrides in{static_cast<std::ptrdiff_t>(block),
                             static_cast<std::ptrdiff_t>(pitch)};
        const GridStrides out{static_cast<std::ptrdiff_t>(rows * block),
                              static_cast<std::ptrdiff_t>(block)};
        const std::byte* const from =
            matrix.end() - (rows ? (rows - 1) * pitch + blocks * block : 0);
        std::byte* const to = tile.end() - bytes;
        fill(tile.begin(), kRoom, 9);
        std::memcpy(expected.data(), tile.begin(), kRoom);
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < blocks; ++j) {
            std::memcpy(expected.data() + kRoom - bytes + (j * rows + i) * block,
                        from + i * pitch + j * block, block);
          }
        }
        copy_grid(to, out, from, in, block, blocks, rows);
        ASSERT_EQ(0, std::memcmp(expected.data(), tile.begin(), kRoom))
            << rows << " rows of " << blocks << " blocks of " << block;
      }
    }
  }
}

std::vector<std::string> sets() {
  std::vector<std::string> result;
  for (const char* const* name = simd_names(); *name; ++name) result.push_back(*name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Sets, Strided, testing::ValuesIn(sets()),
                         [](const auto& set) { return set.param; });

TEST(StreamCopy, copies_any_part_of_lines) {
  Guarded source(kRoom), target(kRoom);
  fill(source.begin(), kRoom, 3);
  for (std::size_t bytes : {0, 1, 63, 64, 65, 127, 128, 200, 4096, 5001}) {
    for (std::size_t shift = 0; shift < 65; ++shift) {
      fill(target.begin(), kRoom, 9);
      std::vector<std::byte> expected(target.begin(), target.end());
      std::byte* const to = target.end() - bytes - shift;
      const std::byte* const from = source.end() - bytes;
      if (bytes > 0) std::memcpy(expected.data() + (to - target.begin()), from, bytes);
      stream_copy(to, from, bytes);
      end_streaming();
      ASSERT_EQ(0, std::memcmp(expected.data(), target.begin(), expected.size()))
          << bytes << " bytes, " << shift << " before the end";
    }
  }
}

// Blocks that it takes are copied to the byte; it refuses the same ones wherever they are.
TEST_P(Strided, streams_what_it_takes) {
  Guarded source(kRoom), target(kRoom);
  fill(source.begin(), kRoom, 3);
  std::size_t taken = 0;
  const auto try_all = [&](std::size_t block, std::ptrdiff_t stride) {
    for (std::size_t count : {1, 2, 100, 333}) {
      for (const std::size_t shift : {0, 1, 8, 16, 24}) {
        fill(target.begin(), kRoom, 9);
        std::vector<std::byte> expected(target.begin(), target.end());
        const Case c{block, count, stride};
        const std::byte* const from = source.end() - c.extent();
        std::byte* const to = target.end() - block * count - shift;
        if (!stream_blocks(to, from, stride, block, count)) continue;
        end_streaming();
        ++taken;
        for (std::size_t i = 0; i < count; ++i) {
          std::memcpy(expected.data() + (to - target.begin()) + i * block,
                      from + static_cast<std::ptrdiff_t>(i) * stride, block);
        }
        ASSERT_EQ(0, std::memcmp(expected.data(), target.begin(), expected.size()))
            << block << " bytes, " << count << " times";
      }
    }
  };
  for (const std::size_t block : {1, 2, 4, 8, 16, 32, 48, 64}) {
    const auto adjoining = static_cast<std::ptrdiff_t>(block);
    for (const std::ptrdiff_t times : {2, 3, 4}) try_all(block, times * adjoining);
    try_all(block, adjoining + 40);
  }
#if defined(__x86_64__)
  EXPECT_GT(taken, 0u);
#endif
}

}  // namespace
}  // namespace sumac

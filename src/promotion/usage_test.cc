// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/usage.h"

#include <gtest/gtest.h>

#include "base/cpu.h"

namespace sumac::promotion {
namespace {

const void* buffer(std::size_t i) {
  return reinterpret_cast<const void*>(0x7f0000000000 + i * 65536);
}

double gain_of(std::size_t bytes, double of_byte = 0.1) {
  return of_byte * static_cast<double>(bytes);
}

int uses_until_due(Usage& usage, const void* address, std::size_t bytes, double of_byte = 0.1) {
  for (int i = 1; i < 100'000; ++i) {
    if (usage.use(address, bytes, gain_of(bytes, of_byte))) return i;
  }
  return 0;
}

TEST(Usage, ABufferIsDueWhenItsUsesHavePaid) {
  // A page costs 1500 ns, and its use gains 409.6 ns.
  Usage usage({.cost_ns_each = 0});
  for (const std::size_t bytes : {65536ul, 1ul << 20, 64ul << 20}) {
    EXPECT_EQ(uses_until_due(usage, buffer(bytes), bytes), 4) << bytes;
  }
  Usage cheaper({.cost_ns_per_page = 1500, .cost_ns_each = 0});
  EXPECT_EQ(uses_until_due(cheaper, buffer(1), 65536, 1), 1);
  Usage dearer({.cost_ns_per_page = 4096, .cost_ns_each = 0});
  EXPECT_EQ(uses_until_due(dearer, buffer(1), 65536, 0.01), 100);
}

TEST(Usage, TheCostIsLearnt) {
  Usage usage({.cost_ns_each = 0});
  for (int i = 0; i < 40; ++i) usage.promoted(buffer(0), 100 * kPage, 100 * 8192);
  EXPECT_NEAR(usage.cost_ns_per_page(), 8192, 1);
  EXPECT_EQ(uses_until_due(usage, buffer(1), 65536), 20);
}

// In one promotion the process loses its processor for a while.
TEST(Usage, OneDearPromotionTeachesLittle) {
  Usage calm({}), disturbed({});
  disturbed.promoted(buffer(0), kPage, 1'000'000'000);
  const int uses = uses_until_due(calm, buffer(1), 65536);
  EXPECT_LT(uses_until_due(disturbed, buffer(1), 65536), 2 * uses);
}

TEST(Usage, SmallBuffersPayTheCostOfEachPromotion) {
  Usage usage({.cost_ns_each = 100'000});
  // 4 pages cost 106 us, and a use gains 1638.4 ns.
  EXPECT_EQ(uses_until_due(usage, buffer(1), 4 * kPage), 65);
  usage.promoted(buffer(1), 4 * kPage, 100'000 + 4 * 1500);
  EXPECT_NEAR(usage.cost_ns_per_page(), 1500, 1);
  usage.promoted(buffer(1), 4 * kPage, 10'000);
  EXPECT_NEAR(usage.cost_ns_per_page(), 1125, 1) << "no cost is negative";
}

TEST(Usage, ARefusedBufferIsTriedAgainWhenItsUsesHaveDoubled) {
  for (const bool eager : {false, true}) {
    Usage usage({.cost_ns_each = 0, .eager = eager});
    const int first = uses_until_due(usage, buffer(1), 65536);
    EXPECT_EQ(first, eager ? 1 : 4);
    int uses = first;
    for (int tries = 0; tries < 6; ++tries) {
      usage.refused(buffer(1));
      const int more = uses_until_due(usage, buffer(1), 65536);
      EXPECT_EQ(more, uses) << "as many again";
      uses += more;
    }
  }
}

// The program frees its buffers and gets others at the same address.
TEST(Usage, APromotionThatDidNotPayMakesTheNextOneDearer) {
  Usage usage({.cost_ns_each = 0});
  const auto promote_and_use = [&](int uses) {
    usage.promoted(buffer(1), 65536, 16 * 1500);
    for (int i = 0; i < uses; ++i) usage.note_use(buffer(1));
  };
  EXPECT_FALSE(usage.is_private(buffer(1))) << "nothing is known";
  EXPECT_EQ(uses_until_due(usage, buffer(1), 65536), 4);
  EXPECT_TRUE(usage.is_private(buffer(1)));
  promote_and_use(100);
  EXPECT_FALSE(usage.is_private(buffer(1)));
  EXPECT_EQ(uses_until_due(usage, buffer(1), 65536), 4) << "it has paid";
  int expected = 4;
  for (int i = 0; i < 10; ++i) {
    promote_and_use(2);
    expected = std::min(2 * expected, static_cast<int>(234.4 + 1));  // 64 times 3.66
    const int uses = uses_until_due(usage, buffer(1), 65536);
    EXPECT_NEAR(uses, expected, expected / 10.0);
  }
  promote_and_use(3);
  EXPECT_EQ(uses_until_due(usage, buffer(1), 65536), 118) << "half as much";
  EXPECT_EQ(uses_until_due(usage, buffer(2), 65536), 4) << "another one";
}

std::uint64_t faults;
std::uint64_t page_faults() { return faults; }

TEST(Usage, WithoutPageFaultsABufferIsPromotedOneUseLater) {
  Usage usage({.cost_ns_each = 0, .page_faults = page_faults});
  for (int i = 1; i <= 4; ++i) {
    faults += 1000;
    EXPECT_FALSE(usage.use(buffer(1), 65536, gain_of(65536))) << i;
  }
  EXPECT_TRUE(usage.use(buffer(1), 65536, gain_of(65536)));
}

// Each use has new memory at one of some addresses: between two uses all its pages are new.
TEST(Usage, NewMemoryAtAnOldAddressCostsItsShareOfTheTimeAtMost) {
  for (const std::size_t bytes : {65536ul, 1ul << 20, 64ul << 20}) {
    Usage usage({.page_faults = page_faults});
    const double call_ns = 0.5 * static_cast<double>(bytes);
    const double cost_ns = 50'000 + 1500 * static_cast<double>(bytes / kPage);
    constexpr int kUses = 100'000;
    int promotions = 0;
    for (int i = 0; i < kUses; ++i) {
      faults += 1 + bytes / kPage / 512;
      usage.call_took(static_cast<std::uint64_t>(call_ns));
      if (!usage.use(buffer(static_cast<std::size_t>(i % 3)), bytes, gain_of(bytes))) continue;
      ++promotions;
      usage.promoted(buffer(static_cast<std::size_t>(i % 3)), bytes,
                     static_cast<std::uint64_t>(cost_ns));
    }
    EXPECT_LE(promotions * cost_ns, 1.01 * Usage::kBlindShare * call_ns * kUses) << bytes;
    EXPECT_GT(promotions, 0) << bytes << ": a program may fault on other memory";
  }
}

TEST(Usage, BuffersUsedOnceAreNotDueAndDoNotReplaceOthers) {
  Usage usage({.cost_ns_each = 0});
  for (std::size_t i = 1; i <= 1'000'000; ++i) {
    ASSERT_FALSE(usage.use(buffer(i), 65536, gain_of(65536))) << i;
    // One of several buffers in the same loop is used again and again.
    if (i == 999'000) {
      EXPECT_LE(uses_until_due(usage, buffer(0), 65536), 6);
    }
  }
  Usage mixed({.cost_ns_each = 0});
  const double gain = gain_of(65536, 0.001);
  int due = 0;
  for (std::size_t i = 1; i <= 200'000 && due == 0; ++i) {
    mixed.use(buffer(i), 65536, gain);
    if (i % 10 == 0 && mixed.use(buffer(0), 65536, gain)) due = static_cast<int>(i / 10);
  }
  EXPECT_EQ(due, 367) << "none of its uses is forgotten";
}

}  // namespace
}  // namespace sumac::promotion

// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sumac::bench {
namespace {

TEST(Pattern, OwnDataIsRecognized) {
  const Pattern pattern{DType::f64, Op::sum, 3, 1};
  std::vector<double> data(10000);
  pattern.fill(data.data(), data.size(), 2);
  EXPECT_EQ(pattern.differing(data.data(), data.size(), 2), 0u);
  EXPECT_GT(pattern.differing(data.data(), data.size(), 1), 5000u);
  data[9999] += 1;
  EXPECT_EQ(pattern.differing(data.data(), data.size(), 2), 1u);
}

TEST(Pattern, SumIsTheSumOfTheRanks) {
  const Pattern pattern{DType::i32, Op::sum, 5, 9};
  std::vector<std::int32_t> total(5000), part(5000);
  for (int rank = 0; rank < 5; rank++) {
    pattern.fill(part.data(), part.size(), rank);
    for (std::size_t i = 0; i < part.size(); i++) total[i] += part[i];
  }
  EXPECT_EQ(pattern.wrong(total.data(), total.size()), 0u);
  total[4321]++;
  EXPECT_EQ(pattern.wrong(total.data(), total.size()), 1u);
}

TEST(Pattern, BytesDoNotOverflow) {
  const Pattern pattern{DType::i8, Op::sum, 100, 3};
  std::vector<int> total(300);
  std::vector<std::int8_t> part(300), sums(300);
  for (int rank = 0; rank < 100; rank++) {
    pattern.fill(part.data(), part.size(), rank);
    for (std::size_t i = 0; i < part.size(); i++) total[i] += part[i];
  }
  for (std::size_t i = 0; i < sums.size(); i++) {
    EXPECT_LE(total[i], 127);
    sums[i] = static_cast<std::int8_t>(total[i]);
  }
  EXPECT_EQ(pattern.wrong(sums.data(), sums.size()), 0u);
}

TEST(Pattern, EveryTypeAndOperationAgreesWithOneRank) {
  std::vector<std::uint64_t> data(100);
  for (int type = 0; type < kNumDTypes; type++)
    for (int op = 0; op < kNumOps; op++) {
      if (is_float(DType(type)) && op > static_cast<int>(Op::max)) continue;
      const Pattern pattern{DType(type), Op(op), 1, 4};
      pattern.fill(data.data(), data.size(), 0);
      EXPECT_EQ(pattern.wrong(data.data(), data.size()), 0u) << type << " " << op;
    }
}

TEST(Pattern, MisplacedPiecesShow) {
  const Pattern pattern{DType::f32, Op::max, 2, 1};
  std::vector<float> data(20000);
  pattern.fill(data.data(), data.size(), 0);
  EXPECT_GT(pattern.differing(data.data() + 4096, 4096, 0), 4000u);
}

}  // namespace
}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
#include "pattern.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "loop.h"
#include "testing/element.h"

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

// Calls f(type, op) for all defined pairs.
template <typename F>
void for_all_pairs(F f) {
  for (int type = 0; type < kNumDTypes; type++)
    for (int op = 0; op < kNumOps; op++)
      if (is_defined(Op(op), DType(type))) f(DType(type), Op(op));
}

std::string described(DType type, Op op) {
  return std::string(name_of(op)) + " of " + name_of(type);
}

// As a program does, or by the oracle where programs have no such type.
void reduce(DType type, Op op, const void* in, void* inout, std::size_t count) {
  if (const Loop own = loop(type, op)) return own(in, inout, count);
  oracle::with_element(type, [&]<typename T>(T) {
    T* const out = static_cast<T*>(inout);
    for (std::size_t i = 0; i < count; i++)
      out[i] = oracle::Element<T>::apply(op, static_cast<const T*>(in)[i], out[i]);
  });
}

TEST(Pattern, EveryTypeAndOperationAgreesWithOneRank) {
  std::vector<__float128> data(200);
  for_all_pairs([&](DType type, Op op) {
    const Pattern pattern{type, op, 1, 4};
    pattern.fill(data.data(), 100, 0);
    EXPECT_EQ(pattern.wrong(data.data(), 100), 0u) << described(type, op);
  });
}

TEST(Pattern, TheReductionOfEveryTypeAndOperationIsToldFromItsParts) {
  std::vector<__float128> parts[2] = {std::vector<__float128>(2000), std::vector<__float128>(2000)};
  for_all_pairs([&](DType type, Op op) {
    const Pattern pattern{type, op, 2, 4};
    for (int rank = 0; rank < 2; rank++) {
      pattern.fill(parts[rank].data(), 1000, rank);
      EXPECT_GT(pattern.wrong(parts[rank].data(), 1000), 100u) << described(type, op);
    }
    reduce(type, op, parts[0].data(), parts[1].data(), 1000);
    EXPECT_EQ(pattern.wrong(parts[1].data(), 1000), 0u) << described(type, op);
  });
}

TEST(Pattern, LastingDataLasts) {
  std::vector<__float128> in(2000), inout(2000);
  for_all_pairs([&](DType type, Op op) {
    fill_lasting(type, op, in.data(), 1000);
    inout = in;
    for (int i = 0; i < 3; i++) reduce(type, op, in.data(), inout.data(), 1000);
    EXPECT_EQ(oracle::count_differing(type, in.data(), inout.data(), 1000), 0u)
        << described(type, op);
  });
}

TEST(Gaps, ElementsHaveTheSizesOfTheTable) {
  for (int type = 0; type < kNumDTypes; type++)
    oracle::with_element(DType(type), [&]<typename T>(T) {
      EXPECT_EQ(sizeof(T), size_of(DType(type))) << name_of(DType(type));
    });
}

TEST(Gaps, OnlyBytesOfDataCount) {
  EXPECT_EQ(oracle::data_bytes(DType::f32), 0xFu);
  EXPECT_EQ(oracle::data_bytes(DType::c128), 0xFFFFFFFFu);
  EXPECT_EQ(oracle::data_bytes(DType::i16_i32), 0xF3u);
  EXPECT_EQ(oracle::data_bytes(DType::f64_i32), 0xFFFu);
  struct DoubleInt {
    double value;
    int index;
  };
  const DoubleInt a[3] = {{1, 2}, {3, 4}, {5, 6}};
  unsigned char b[sizeof a];
  for (std::size_t byte = 0; byte < sizeof a; byte++) {
    std::memcpy(b, a, sizeof a);
    b[byte]++;
    EXPECT_EQ(oracle::count_differing(DType::f64_i32, a, b, 3), byte % 16 < 12 ? 1u : 0u) << byte;
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

// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sumac {
namespace {

const std::vector<std::string> kNoNumbers = {"",   " ",   "x",  "5x",   "x5", "5 ",  " 5", "--5",
                                             "5,", "0x5", "+-", "five", "5e", "nan", "5 6"};

TEST(Numbers, AreReadWhole) {
  std::int64_t number = 7;
  for (const std::string& text : kNoNumbers) {
    EXPECT_EQ(read_whole_number(text, -9, 9, number), "not a whole number") << text;
  }
  EXPECT_EQ(read_whole_number("5.0", -9, 9, number), "not a whole number");
  EXPECT_EQ(read_whole_number("-10", -9, 9, number), "less than -9");
  EXPECT_EQ(read_whole_number("10", -9, 9, number), "more than 9");
  EXPECT_EQ(read_whole_number("99999999999999999999", -9, 9, number), "more than 9");
  EXPECT_EQ(read_whole_number("-99999999999999999999", -9, 9, number), "less than -9");
  EXPECT_EQ(number, 7);
  for (int i = -9; i <= 9; ++i) {
    EXPECT_EQ(read_whole_number(std::to_string(i), -9, 9, number), "");
    EXPECT_EQ(number, i);
  }
}

TEST(Numbers, MayBeReal) {
  double number = 7;
  for (const std::string& text : kNoNumbers) {
    if (text == "0x5") continue;  // which is one
    EXPECT_EQ(read_real_number(text, 0.5, 9, number), "not a number") << text;
  }
  EXPECT_EQ(read_real_number("-nan", 0.5, 9, number), "not a number");
  EXPECT_EQ(read_real_number("inf", 0.5, 9, number), "more than 9");
  EXPECT_EQ(read_real_number("1e999", 0.5, 9, number), "more than 9");
  EXPECT_EQ(read_real_number("1e-999", 0.5, 9, number), "less than 0.5");
  EXPECT_EQ(read_real_number("-1", 0.5, 9, number), "less than 0.5");
  EXPECT_EQ(number, 7);
  EXPECT_EQ(read_real_number("2.5e0", 0.5, 9, number), "");
  EXPECT_EQ(number, 2.5);
}

TEST(Numbers, MayBeSizes) {
  std::uint64_t bytes = 7;
  for (const std::string& text : kNoNumbers) EXPECT_EQ(read_size(text, bytes), "not a size");
  for (const char* text : {"-8", "+8", "-0", "8.5", "K", "B", "iB", "8Q", "8KK", "1 K", "8BB"}) {
    EXPECT_EQ(read_size(text, bytes), "not a size") << text;
  }
  for (const char* text : {"65G", "68719476737", "18446744073709551608", "18446744073709551615"}) {
    EXPECT_EQ(read_size(text, bytes), "more than 64G") << text;
  }
  EXPECT_EQ(bytes, 7u);
  const std::vector<std::pair<const char*, std::uint64_t>> sizes = {
      {"0", 0},          {"8", 8},          {"8B", 8},        {"64K", 64 << 10},
      {"64k", 64 << 10}, {"1KiB", 1 << 10}, {"1mb", 1 << 20}, {"64G", kMostBytes}};
  for (const auto& [text, expected] : sizes) {
    EXPECT_EQ(read_size(text, bytes), "") << text;
    EXPECT_EQ(bytes, expected) << text;
  }
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/simd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/reduce.h"
#include "kernels/sets.h"

namespace sumac {
namespace {

TEST(SimdNames, WhatPeopleCallThem) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"auto", "auto"},
                                                                  {"native", "auto"},
                                                                  {"yes", "auto"},
                                                                  {"avx3", "avx3"},
                                                                  {"avx512", "avx3"},
                                                                  {"AVX-512", "avx3"},
                                                                  {"avx_512", "avx3"},
                                                                  {"avx512f", "avx3"},
                                                                  {"AVX512BW", "avx3"},
                                                                  {"avx512_fp16", "avx3_fp16"},
                                                                  {"avx3-fp16", "avx3_fp16"},
                                                                  {"avx-2", "avx2"},
                                                                  {"sse4", "sse4"},
                                                                  {"sse4.1", "sse4"},
                                                                  {"SSE4_2", "sse4"},
                                                                  {"ssse3", "ssse3"},
                                                                  {"sse2", "sse2"},
                                                                  {"256bit", "256bit"},
                                                                  {"256-bit", "256bit"},
                                                                  {"512bit", "avx3"},
                                                                  {"ASIMD", "neon"},
                                                                  {"sve2", "sve"},
                                                                  {"none", "scalar"},
                                                                  {"off", "scalar"},
                                                                  {"0", "scalar"},
                                                                  {"Scalar", "scalar"}};
  for (const auto& [name, usual] : cases) {
    EXPECT_STREQ(usual_simd_name(name.c_str()), usual.c_str()) << name;
    EXPECT_TRUE(sumac_simd_is_known(name.c_str())) << name;
  }
  for (const std::string name : {"", "avx", "axv2", "avx9", "2", "sse", "avx2avx2avx2avx2avx2x",
                                 "avx512fp16_and_more", "auto,avx2", "-"}) {
    EXPECT_EQ(usual_simd_name(name.c_str()), nullptr) << name;
    EXPECT_FALSE(force_simd(name.c_str())) << name;
  }
}

// A set that the processor has is forced by its name; one that it lacks changes nothing.
TEST(SimdNames, OfSetsThatAreHereAndOthers) {
  std::vector<std::string> here;
  for (const char* const* name = simd_names(); *name; ++name) here.push_back(*name);
  for (const char* set : {"avx3_fp16", "avx3", "avx2", "sse4", "ssse3", "sse2", "sve", "neon"}) {
    const bool has = std::find(here.begin(), here.end(), set) != here.end();
    force_simd("auto");
    const std::string before = simd_name();
    EXPECT_EQ(force_simd(set), has) << set;
    EXPECT_EQ(simd_name(), has ? set : before) << set;
  }
  force_simd("auto");
}

std::vector<std::string> sets_of_this_build() {
  std::vector<std::string> names;
  do names.push_back(name_of_set(static_cast<int>(names.size())));
  while (names.back() != "scalar");
  return names;
}

// Returns true for pairs in which AVX-512 does by one instruction what takes AVX2 several.
bool gains(Op op, DType type) {
  static constexpr std::pair<Op, DType> kGaining[] = {
      {Op::prod, DType::i64}, {Op::min, DType::i64}, {Op::max, DType::i64},
      {Op::prod, DType::u64}, {Op::min, DType::u64}, {Op::max, DType::u64}};
  return std::find(std::begin(kGaining), std::end(kGaining), std::pair{op, type}) !=
         std::end(kGaining);
}

// The choice is right for processors of every kind, also for kinds that this one is not.
TEST(AutomaticSet, OfEveryPairOnEveryProcessor) {
  const std::vector<std::string> names = sets_of_this_build();
  const auto index_of = [&](const char* name) {
    return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const auto avx2 = static_cast<int>(names.size()) == index_of("avx2") ? 0 : index_of("avx2");
  for (int best = 0; best < static_cast<int>(names.size()); ++best) {
    const bool is_long = names[best].rfind("avx3", 0) == 0;
    for (int op = 0; op <= kNumOps; ++op) {
      for (int type = 0; type <= kNumDTypes; ++type) {
        const auto o = static_cast<Op>(op);
        const auto t = static_cast<DType>(type);
        EXPECT_EQ(automatic_set({best, false}, o, t), best) << names[best] << op << " " << type;
        if (names[best] == "sve") continue;  // no processor with it lowers its clock
        EXPECT_EQ(automatic_set({best, true}, o, t), is_long && !gains(o, t) ? avx2 : best)
            << names[best] << " " << op << " " << type;
      }
    }
  }
}

// A forced set holds for all pairs.
TEST(AutomaticSet, ForcedForAllPairs) {
  for (const char* const* name = simd_names(); *name; ++name) {
    ASSERT_TRUE(force_simd(*name));
    for (int op = 0; op < kNumOps; ++op) {
      EXPECT_STREQ(name_of_set(set_for(static_cast<Op>(op), DType::i64)), *name);
    }
  }
  force_simd("auto");
}

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernels/reduce.h"

namespace sumac {
namespace {

bool offers(const std::string& set) {
  for (const char* const* name = simd_names(); *name != nullptr; ++name) {
    if (set == *name) return true;
  }
  return false;
}

// The register is a witness independent of the system's list of capabilities.
TEST(Simd, OffersSveWhereTheProcessorHasIt) {
  std::uint64_t features;
  asm("mrs %0, ID_AA64PFR0_EL1" : "=r"(features));
  const bool has_sve = (features >> 32 & 0xF) != 0;
  EXPECT_EQ(offers("sve"), has_sve);
  EXPECT_EQ(force_simd("sve"), has_sve);
  EXPECT_STREQ(simd_name(), has_sve ? "sve" : "neon");
  EXPECT_TRUE(force_simd("neon"));
  EXPECT_STREQ(simd_name(), "neon");
  force_simd("auto");
}

// An emulator that is asked for a length it does not have silently takes another one.
TEST(Simd, RunsOnTheProcessorTheTestIsNamedAfter) {
  const char* bits = std::getenv("SUMAC_TEST_SVE_BITS");
  if (bits == nullptr) GTEST_SKIP() << "not under the emulator";
  const int length = prctl(PR_SVE_GET_VL);
  EXPECT_EQ(length < 0 ? 0 : 8 * (length & PR_SVE_VL_LEN_MASK), std::atoi(bits));
}

}  // namespace
}  // namespace sumac

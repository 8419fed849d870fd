// SPDX-License-Identifier: BSD-3-Clause
// These are the settings of Highway. Include this file before any of its headers.
#pragma once

// Sumac leaves out AVX3_DL and SVE2, whose additions no reduction uses, and SVE for one vector
// length, since the code for any length serves all.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// These features are not required of a processor: no reduction uses them.
#define HWY_DISABLE_PCLMUL_AES

// Highway's library must not be needed at run time, not even for an assertion.
#undef HWY_IS_DEBUG_BUILD
#define HWY_IS_DEBUG_BUILD 0

// False while Highway includes a file for its own emulation, which Sumac does not use.
#define SUMAC_VECTOR_TARGET (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)

// This lists the functions `find` of all sets, in the order of VectorSet, after Highway's headers.
#define SUMAC_VECTOR_SETS(find)                                                                  \
  {                                                                                              \
    HWY_CHOOSE_AVX3(find), HWY_CHOOSE_AVX2(find), HWY_CHOOSE_SSE4(find), HWY_CHOOSE_SSSE3(find), \
        HWY_CHOOSE_SVE(find), HWY_CHOOSE_NEON(find)                                              \
  }

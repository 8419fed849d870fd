// SPDX-License-Identifier: BSD-3-Clause
// This file must be included after Highway. It has the functions `find` of all sets, in the order
// of VectorSet.
#pragma once

#define SUMAC_VECTOR_SETS(find)                                                                  \
  {                                                                                              \
    HWY_CHOOSE_AVX3(find), HWY_CHOOSE_AVX2(find), HWY_CHOOSE_SSE4(find), HWY_CHOOSE_SSSE3(find), \
        HWY_CHOOSE_SVE(find), HWY_CHOOSE_NEON(find)                                              \
  }

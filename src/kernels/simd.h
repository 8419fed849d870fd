/* SPDX-License-Identifier: BSD-3-Clause */
/* The instruction set in use. C: the command asks too, without the kernels. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Its index in simd_sets.def. */
int sumac_simd_set(void);

/* Whether a set of this or another kind of processor is called so: avx3, avx512, AVX-512. */
int sumac_simd_is_known(const char* name);

#ifdef __cplusplus
}
#endif

// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels: element-wise, any predefined pair of operation and type, on the best
// instruction set of the processor at run time.
#pragma once

#include <cstddef>

#include "base/types.h"

namespace sumac {

inline constexpr int kMaxSources = 8;

// dst[i] = (((srcs[0][i] op srcs[1][i]) op srcs[2][i]) op ...) for i < count: a strict left fold.
// num_srcs is 1 to kMaxSources (1 copies). Buffers may be unaligned. dst may be exactly one of the
// srcs; any other overlap is not allowed. The result's bits depend on nothing but the elements:
// not on the instruction set, the alignment, or an element's place in the buffer.
//   sum, prod of integers wrap; of two NaNs they keep what the processor's instruction keeps, on
//   x86 the left one. min: a < b ? a : b, max: a > b ? a : b with a the left operand, so with a
//   NaN on either side, or zeros of two signs, the right operand is the result.
//   sum, prod of float16 and bfloat16 are formed in float and rounded to nearest even at each step.
//   prod of complex numbers is the plain formula. minloc, maxloc: of equal values the pair with the
//   lower index, the right one if that is equal too or a value is a NaN. Gaps in an element (of
//   pairs and long double) become the last source's: dst's own where dst is that.
//   land, lor, lxor: any non-zero element is true, the result is 0 or 1.
using ReduceFn = void (*)(void* dst, const void* const* srcs, int num_srcs, std::size_t count);

// The kernel for the pair; nullptr where it is not defined (is_defined).
ReduceFn find_reduce(Op op, DType type);

// Name of the instruction set in use: "avx3_fp16", "avx3", "avx2", "sse4", "ssse3", "sse2", "sve",
// "neon" or "scalar".
const char* simd_name();

// Forces an instruction set by name before the first find_reduce (option SUMAC_SIMD). "256bit" is
// the best of no longer vectors; "auto" the best, or that on processors whose clock longer ones
// lower. False, and nothing changes, when the name is unknown or the processor lacks it.
bool force_simd(const char* name);

// Results of at least so many bytes, in a dst that is no source, are stored past the caches: for
// what will have left them anyway before it is read. Beyond all sizes until this is called; never
// below kLeastStreamed, more than any vector of a known length.
inline constexpr std::size_t kLeastStreamed = 256;
void set_stream_bytes(std::size_t bytes);

// What people call a set, whatever processor has it: "avx3" for "AVX-512"; null where no set is
// called so.
const char* usual_simd_name(const char* name);

// Names accepted by force_simd on this processor, best first, ended by nullptr.
const char* const* simd_names();

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels work element by element, for any predefined pair of operation and type, on the
// best instruction set that the processor has at run time.
#pragma once

#include <cstddef>

#include "base/types.h"

namespace sumac {

inline constexpr int kMaxSources = 8;

// Computes dst[i] = (((srcs[0][i] op srcs[1][i]) op srcs[2][i]) op ...) for i < count, a strict
// left fold. num_srcs is 1 to kMaxSources (1 copies). Buffers may be unaligned. dst may be exactly
// one of the srcs; no other overlap is allowed.
//
// The result's bits depend on the elements only: not on the instruction set, the alignment, or an
// element's place in the buffer. sum and prod of integers wrap; of two NaNs they keep the one that
// the processor's instruction keeps, on x86 the left one. min is a < b ? a : b and max is a > b ? a
// : b with a the left operand, so with a NaN on either side, or with zeros of two signs, the right
// operand is the result. sum and prod of float16 and bfloat16 are formed in float and rounded to
// nearest even at each step. prod of complex numbers is the plain formula. minloc and maxloc take,
// of equal values, the pair with the lower index; the right one if the indices are equal too or a
// value is a NaN. Gaps in an element (of pairs and long double) are copied from the last source;
// they stay where that is dst. land, lor and lxor take any non-zero element as true and give 0 or
// 1.
using ReduceFn = void (*)(void* dst, const void* const* srcs, int num_srcs, std::size_t count);

// Returns the kernel for the pair, or nullptr if the pair is not defined (is_defined).
ReduceFn find_reduce(Op op, DType type);

// Returns the name of the instruction set in use: "avx3_fp16", "avx3", "avx2", "sse4", "ssse3",
// "sse2", "sve", "neon" or "scalar". If none is forced, single pairs may have a better one
// (sets.h).
const char* simd_name();

// Forces an instruction set by name before the first find_reduce (option SUMAC_SIMD). "256bit" is
// the best set with vectors of at most 256 bits; "auto" is the best set for each pair: on
// processors whose clock falls with longer vectors that is "256bit" for most. Returns false, and
// changes nothing, if the name is unknown or the processor lacks the set.
bool force_simd(const char* name);

// Results of at least `bytes` bytes, in a dst that is no source, are stored past the caches, since
// they will have left them anyway before they are read. This is off until the function is called.
// Results shorter than kLeastStreamed, which exceeds any vector of known length, never go past the
// caches.
inline constexpr std::size_t kLeastStreamed = 256;
void set_stream_bytes(std::size_t bytes);

// Returns the common name of a set, whatever processor has it, such as "avx3" for "AVX-512"; null
// if there is no such set.
const char* usual_simd_name(const char* name);

// Returns the names that force_simd accepts on this processor, best first, ended by nullptr.
const char* const* simd_names();

}  // namespace sumac

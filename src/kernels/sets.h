// SPDX-License-Identifier: BSD-3-Clause
// Kernels are compiled for these instruction sets. One file per element size holds that size's
// kernels for every vector set, so that files compile in parallel and within little memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/reduce.h"

namespace sumac {

// Returns the kernel of one instruction set for a pair, or nullptr.
using FindFn = ReduceFn (*)(Op op, DType type);

// These sets are compiled through Highway; the order is that of SUMAC_VECTOR_SETS.
enum VectorSet { kAvx3, kAvx2, kSse4, kSsse3, kSve, kNeon };

// The function of each file, find_int8 and so on, returns nullptr if the pair has no kernel there,
// or the build has none for the set.
#define SUMAC_KERNEL_FILE(file) ReduceFn find_##file(VectorSet set, Op op, DType type);
SUMAC_KERNEL_FILES(SUMAC_KERNEL_FILE)
#undef SUMAC_KERNEL_FILE
ReduceFn find_native_half(Op op);  // AVX-512 with float16, where the assembler knows it

// find_scalar has plain loops that are not vectorised; the compiler vectorises those of find_sse2
// for the baseline x86-64 processor.
ReduceFn find_scalar(Op op, DType type);
ReduceFn find_sse2(Op op, DType type);

// These kernels are for numbers of more than 64 bits, the same for every set.
ReduceFn find_wide(Op op, DType type);

// The choice of a set depends on this. `best_set` is an index in simd_sets.def: the first set that
// the processor has.
struct Processor {
  int best_set;
  bool lowers_its_clock;  // if it runs vectors of more than 256 bits
};

// Returns the set for a pair if none is forced. That is the best set, unless it lowers the
// processor's clock and saves no instructions; then it is the best with vectors of at most 256
// bits. Op::none and DType::none ask for the set of everything that is not a reduction.
int automatic_set(const Processor& processor, Op op, DType type);

// Returns the set for a pair on this processor: the one that is forced, or the automatic one.
int set_for(Op op, DType type);
const char* name_of_set(int set);

// See set_stream_bytes in reduce.h.
inline std::atomic<std::size_t> stream_bytes{SIZE_MAX};

}  // namespace sumac

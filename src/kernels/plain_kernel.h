// SPDX-License-Identifier: BSD-3-Clause
// The kernels as plain loops, for the instruction sets that Highway does not serve. Each set is a
// file with flags of its own, so everything takes the set as a parameter: the linker must never
// merge a function of two. It must be a struct with a name of its own, not one in an unnamed
// namespace: gcc 12 gives templates of its member templates one name in all files.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/select.h"
#include "kernels/sets.h"

namespace sumac {

// Elements may be unaligned, hence the copies.
template <class Set, class Op, class T>
void fold_each(char* dst, const char* left, const char* right, std::size_t count) {
#if !defined(__clang__)
#pragma GCC ivdep  // no step touches the elements of another one, whatever dst is
#endif
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    __builtin_memcpy(&a, left + i * sizeof(T), sizeof(T));
    __builtin_memcpy(&b, right + i * sizeof(T), sizeof(T));
    a = Op::one(a, b);
    __builtin_memcpy(dst + i * sizeof(T), &a, sizeof(T));
  }
}

// Set::fold<Op, T> reduces two sources like fold_each.
template <class Set>
struct Plain {
  template <class Op, class T>
  struct Kernel {
    static void reduce(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
      if (num_srcs == 1) return plain::copy(dst, srcs[0], count * sizeof(T));
      for (std::size_t at = 0; at < count; at += kBlock) {
        fold_block(dst, srcs, num_srcs, at * sizeof(T), std::min(kBlock, count - at));
      }
    }

   private:
    // Blocks that stay in the first-level cache while they take in one source after another.
    static constexpr std::size_t kBlock = 4096 / sizeof(T);

    static void fold_block(void* dst, const void* const* srcs, int num_srcs, std::size_t offset,
                           std::size_t count) {
      char acc[kBlock * sizeof(T)];
      const char* left = static_cast<const char*>(srcs[0]) + offset;
      for (int k = 1; k < num_srcs; ++k) {
        const char* right = static_cast<const char*>(srcs[k]) + offset;
        // dst may be a source: it is overwritten when all have been read.
        char* result = k == num_srcs - 1 ? static_cast<char*>(dst) + offset : acc;
        Set::template fold<Op, T>(result, left, right, count);
        left = acc;
      }
    }
  };
};

// Every pair of types that have vector kernels elsewhere.
template <class Set>
ReduceFn find_plain(Op op, DType type) {
  switch (type) {
    case DType::i8:
      return select_integer<Plain<Set>::template Kernel, std::int8_t>(op);
    case DType::u8:
      return select_integer<Plain<Set>::template Kernel, std::uint8_t>(op);
    case DType::i16:
      return select_integer<Plain<Set>::template Kernel, std::int16_t>(op);
    case DType::u16:
      return select_integer<Plain<Set>::template Kernel, std::uint16_t>(op);
    case DType::i32:
      return select_integer<Plain<Set>::template Kernel, std::int32_t>(op);
    case DType::u32:
      return select_integer<Plain<Set>::template Kernel, std::uint32_t>(op);
    case DType::i64:
      return select_integer<Plain<Set>::template Kernel, std::int64_t>(op);
    case DType::u64:
      return select_integer<Plain<Set>::template Kernel, std::uint64_t>(op);
    case DType::f16:
      return select_float<Plain<Set>::template Kernel, Float16>(op);
    case DType::bf16:
      return select_float<Plain<Set>::template Kernel, BFloat16>(op);
    case DType::f32:
      return select_float<Plain<Set>::template Kernel, float>(op);
    case DType::f64:
      return select_float<Plain<Set>::template Kernel, double>(op);
    case DType::c32:
      return select_complex<Plain<Set>::template Kernel, float>(op);
    case DType::c64:
      return select_complex<Plain<Set>::template Kernel, double>(op);
    case DType::i32_i32:
    case DType::f32_i32:
    case DType::f32_f32:
    case DType::i16_i32:
      return select_pair32<Plain<Set>::template Kernel>(op, type);
    default:
      return select_pair64<Plain<Set>::template Kernel>(op, type);
  }
}

}  // namespace sumac

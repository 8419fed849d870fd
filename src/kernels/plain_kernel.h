// SPDX-License-Identifier: BSD-3-Clause
// These kernels are plain loops, for the instruction sets that Highway does not serve. Each set is
// one file with compiler flags of its own, so every function takes the set as a template parameter:
// the linker must never merge functions of two sets. The parameter must be a struct with a name of
// its own, not one in an unnamed namespace: gcc 12 gives templates of its member templates the same
// name in all files.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/select.h"
#include "kernels/sets.h"

namespace sumac {

// Reads and writes elements in memory. They may be unaligned, hence the copies.
template <class T>
struct Memory {
  static T load(const char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof(T));
    return value;
  }
  static void store(char* to, T value) { __builtin_memcpy(to, &value, sizeof(T)); }
  static void copy_gaps(char* /*to*/, const char* /*from*/) {}
};

// The store leaves the gap alone.
template <>
struct Memory<long double> {
  typedef long double Unaligned __attribute__((aligned(1), may_alias));
  static long double load(const char* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static void store(char* to, long double value) { *reinterpret_cast<Unaligned*>(to) = value; }
  static void copy_gaps(char* to, const char* from) {
    constexpr std::size_t kGap = sizeof(long double) - kLongDoubleBytes;
    if constexpr (kGap > 0) __builtin_memcpy(to + kLongDoubleBytes, from + kLongDoubleBytes, kGap);
  }
};

template <>
struct Memory<Complex<long double>> {
  using Part = Memory<long double>;
  static constexpr std::size_t kIm = sizeof(long double);
  static Complex<long double> load(const char* from) {
    return {Part::load(from), Part::load(from + kIm)};
  }
  static void store(char* to, Complex<long double> value) {
    Part::store(to, value.re);
    Part::store(to + kIm, value.im);
  }
  static void copy_gaps(char* to, const char* from) {
    Part::copy_gaps(to, from);
    Part::copy_gaps(to + kIm, from + kIm);
  }
};

template <class Set, class Op, class T>
void fold_each(char* dst, const char* left, const char* right, std::size_t count) {
  if (dst != right) {
    for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
      Memory<T>::copy_gaps(dst + at, right + at);
    }
  }
#if !defined(__clang__)
#pragma GCC ivdep  // no step touches the elements of another one, whatever dst is
#endif
  for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
    const T a = Memory<T>::load(left + at);
    const T b = Memory<T>::load(right + at);
    Memory<T>::store(dst + at, Op::one(a, b));
  }
}

// Set::fold<Op, T> reduces two sources as fold_each does.
template <class Set>
struct Plain {
  template <class Op, class T>
  struct Kernel {
    static void reduce(void* dst, const void* const* srcs, int num_srcs, std::size_t count) {
      if (num_srcs == 1) return plain::copy(dst, srcs[0], count * sizeof(T));
      if (num_srcs == 2) {
        return Set::template fold<Op, T>(static_cast<char*>(dst), static_cast<const char*>(srcs[0]),
                                         static_cast<const char*>(srcs[1]), count);
      }
      for (std::size_t at = 0; at < count; at += kBlock) {
        fold_block(dst, srcs, num_srcs, at * sizeof(T), std::min(kBlock, count - at));
      }
    }

   private:
    // A block has this many elements. It stays in the first-level cache while one source after
    // another is folded into it.
    static constexpr std::size_t kBlock = 2048 / sizeof(T);

    static void fold_block(void* dst, const void* const* srcs, int num_srcs, std::size_t offset,
                           std::size_t count) {
      char acc[kBlock * sizeof(T)];
      const char* left = static_cast<const char*>(srcs[0]) + offset;
      for (int k = 1; k < num_srcs; ++k) {
        const char* right = static_cast<const char*>(srcs[k]) + offset;
        // Since dst may be a source, it is written only after all sources have been read.
        char* result = k == num_srcs - 1 ? static_cast<char*>(dst) + offset : acc;
        Set::template fold<Op, T>(result, left, right, count);
        left = acc;
      }
    }
  };
};

// Finds the kernel of a type that has vector kernels elsewhere.
template <class Set>
ReduceFn find_plain(Op op, DType type) {
  switch (info_of(type).kernels) {
#define SUMAC_KERNEL_FILE(file) \
  case KernelFile::file:        \
    return select_in<KernelFile::file, Plain<Set>::template Kernel>(op, type);
    SUMAC_KERNEL_FILES(SUMAC_KERNEL_FILE)
#undef SUMAC_KERNEL_FILE
    case KernelFile::wide:
      break;
  }
  return nullptr;
}

}  // namespace sumac

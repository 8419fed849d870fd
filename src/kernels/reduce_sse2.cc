// SPDX-License-Identifier: BSD-3-Clause
// These kernels are for what every x86-64 processor has, by the compiler's own vectoriser.
// Highway's sets start above it.
#include <emmintrin.h>

#include "kernels/plain_kernel.h"

namespace sumac {
namespace {

__m128 load(const float* p) { return _mm_loadu_ps(p); }
__m128d load(const double* p) { return _mm_loadu_pd(p); }
void store(float* p, __m128 v) { _mm_storeu_ps(p, v); }
void store(double* p, __m128d v) { _mm_storeu_pd(p, v); }

__m128 apply(plain::Sum, __m128 a, __m128 b) {
  SUMAC_ORDERED_X86("addps", a, b);
  return a;
}
__m128d apply(plain::Sum, __m128d a, __m128d b) {
  SUMAC_ORDERED_X86("addpd", a, b);
  return a;
}
__m128 apply(plain::Prod, __m128 a, __m128 b) {
  SUMAC_ORDERED_X86("mulps", a, b);
  return a;
}
__m128d apply(plain::Prod, __m128d a, __m128d b) {
  SUMAC_ORDERED_X86("mulpd", a, b);
  return a;
}

}  // namespace

struct Sse2Set {
  template <class Op, class T>
  static void fold(char* dst, const char* left, const char* right, std::size_t count) {
    std::size_t done = 0;  // bytes
    // The vectoriser cannot see into the instructions of ordered.h.
    if constexpr (std::is_floating_point_v<T> &&
                  (std::is_same_v<Op, plain::Sum> || std::is_same_v<Op, plain::Prod>)) {
      for (; done + 16 <= count * sizeof(T); done += 16) {
        const auto a = load(reinterpret_cast<const T*>(left + done));
        const auto b = load(reinterpret_cast<const T*>(right + done));
        store(reinterpret_cast<T*>(dst + done), apply(Op(), a, b));
      }
    }
    fold_each<Sse2Set, Op, T>(dst + done, left + done, right + done, count - done / sizeof(T));
  }
};

ReduceFn find_sse2(Op op, DType type) { return find_plain<Sse2Set>(op, type); }

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The choice of the instruction set. Highway's own would need its shared library.
#include "kernels/reduce.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <atomic>
#include <cstring>

#include "kernels/highway_config.h"
#include "kernels/sets.h"
// After Highway's settings: which sets it will compile.
#include "hwy/detect_targets.h"

namespace sumac {
namespace {

template <VectorSet set>
ReduceFn find_vector(Op op, DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8:
      return find_int8(set, op, type);
    case DType::i16:
    case DType::u16:
      return find_int16(set, op, type);
    case DType::i32:
    case DType::u32:
      return find_int32(set, op, type);
    case DType::i64:
    case DType::u64:
      return find_int64(set, op, type);
    case DType::f16:
    case DType::bf16:
      return find_half(set, op, type);
    case DType::f32:
      return find_f32(set, op, type);
    case DType::f64:
      return find_f64(set, op, type);
    case DType::c32:
    case DType::c64:
      return find_complex(set, op, type);
    case DType::i32_i32:
    case DType::f32_i32:
    case DType::f32_f32:
    case DType::i16_i32:
      return find_pair32(set, op, type);
    default:
      return find_pair64(set, op, type);
  }
}

#if defined(__x86_64__)
// The compiler's run-time also asks whether the operating system keeps the wider registers. Each
// answer includes the next one's; Highway compiles with all the features named here.
bool has_ssse3() {
  __builtin_cpu_init();  // a preloaded library may be called before any constructor ran
  return __builtin_cpu_supports("ssse3");
}

bool has_sse4() {
  return has_ssse3() && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
}

bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

bool has_avx3() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}

// Those on which 512-bit instructions slow the whole processor down: reductions gain less by them
// than the program loses.
bool lowers_its_clock() {
  return __builtin_cpu_is("skylake-avx512") || __builtin_cpu_is("cascadelake") ||
         __builtin_cpu_is("cooperlake");
}
#else
bool lowers_its_clock() { return false; }
#endif

#if (HWY_TARGETS & HWY_AVX3) && defined(SUMAC_HAS_AVX512_FP16)
bool has_avx3_fp16() { return has_avx3() && __builtin_cpu_supports("avx512fp16"); }

ReduceFn find_avx3_fp16(Op op, DType type) {
  return type == DType::f16 ? find_native_half(op) : find_vector<kAvx3>(op, type);
}
#endif

#if HWY_TARGETS & HWY_SVE
bool has_sve() { return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0; }
#endif

bool always() { return true; }

struct SimdSet {
  const char* name;
  int bits;  // of a vector, at most
  bool (*on_this_processor)();
  FindFn find;
};

// Best first; a processor that has one has all that follow. A compiler told to assume a newer
// processor leaves some out.
constexpr SimdSet kSets[] = {
#if (HWY_TARGETS & HWY_AVX3) && defined(SUMAC_HAS_AVX512_FP16)
    {"avx3_fp16", 512, has_avx3_fp16, find_avx3_fp16},
#endif
#if HWY_TARGETS & HWY_AVX3
    {"avx3", 512, has_avx3, find_vector<kAvx3>},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"avx2", 256, has_avx2, find_vector<kAvx2>},
#endif
#if HWY_TARGETS & HWY_SSE4
    {"sse4", 128, has_sse4, find_vector<kSse4>},
#endif
#if HWY_TARGETS & HWY_SSSE3
    {"ssse3", 128, has_ssse3, find_vector<kSsse3>},
#endif
#if HWY_TARGETS & HWY_SVE
    {"sve", 2048, has_sve, find_vector<kSve>},
#endif
#if HWY_TARGETS & HWY_NEON
    {"neon", 128, always, find_vector<kNeon>},
#endif
#if defined(__x86_64__)
    {"sse2", 128, always, find_sse2},
#endif
    {"scalar", 0, always, find_scalar},
};
constexpr int kNumSets = sizeof(kSets) / sizeof(kSets[0]);

struct Names {
  constexpr Names() {
    for (int i = 0; i < kNumSets; ++i) name[i] = kSets[i].name;
  }
  const char* name[kNumSets + 1] = {};  // the last stays nullptr
};
constexpr Names kNames;

// The first set the processor has, with vectors of at most so many bits.
int best_set(int most_bits) {
  int set = 0;
  while (!kSets[set].on_this_processor() || kSets[set].bits > most_bits) ++set;
  return set;
}

constexpr int kAnyBits = 1 << 20;
int first_set() { return best_set(kAnyBits); }
int default_set() { return best_set(lowers_its_clock() ? 256 : kAnyBits); }

std::atomic<std::size_t> bytes_to_stream{SIZE_MAX};
std::atomic<int> forced_set{-1};  // index in kSets; -1: the best

int current_set() {
  const int set = forced_set.load(std::memory_order_relaxed);
  return set >= 0 ? set : default_set();
}

}  // namespace

ReduceFn find_reduce(Op op, DType type) {
  if (!is_defined(op, type)) return nullptr;
  return info_of(type).vector ? kSets[current_set()].find(op, type) : find_wide(op, type);
}

std::size_t stream_bytes() { return bytes_to_stream.load(std::memory_order_relaxed); }

void set_stream_bytes(std::size_t bytes) {
  bytes_to_stream.store(bytes, std::memory_order_relaxed);
}

const char* simd_name() { return kSets[current_set()].name; }

const char* const* simd_names() { return kNames.name + first_set(); }

bool force_simd(const char* name) {
  if (std::strcmp(name, "auto") == 0) {
    forced_set.store(-1, std::memory_order_relaxed);
    return true;
  }
  if (std::strcmp(name, "256bit") == 0) {
    forced_set.store(best_set(256), std::memory_order_relaxed);
    return true;
  }
  for (int set = first_set(); set < kNumSets; ++set) {
    if (std::strcmp(name, kSets[set].name) == 0) {
      forced_set.store(set, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace sumac

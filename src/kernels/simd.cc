// SPDX-License-Identifier: BSD-3-Clause
// This file chooses the instruction set. Highway's own choice would need its shared library.
#include "kernels/simd.h"

#include <atomic>
#include <cstring>

#include "base/switch_word.h"
#include "kernels/highway_config.h"
#include "kernels/reduce.h"
#include "kernels/sets.h"
// This include comes after Highway's settings, and tells which sets Highway will compile.
#include "hwy/detect_targets.h"

#if HWY_TARGETS & HWY_SVE
#include <sys/auxv.h>

#include <asm/hwcap.h>
#endif

namespace sumac {
namespace {

#if defined(__x86_64__)
// The compiler's run-time also asks whether the operating system saves the wider registers. Each
// feature includes the next; Highway compiles with all features named here.
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

#if (HWY_TARGETS & HWY_AVX3) && defined(SUMAC_HAS_AVX512_FP16)
bool has_avx3_fp16() { return has_avx3() && __builtin_cpu_supports("avx512fp16"); }
#endif

// Returns true for processors on which 512-bit instructions lower the clock of everything.
bool lowers_its_clock() {
  return __builtin_cpu_is("skylake-avx512") || __builtin_cpu_is("cascadelake") ||
         __builtin_cpu_is("cooperlake");
}
#else
bool lowers_its_clock() { return false; }
#endif

#if HWY_TARGETS & HWY_SVE
bool has_sve() { return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0; }
#endif

bool always() { return true; }

struct SimdSet {
  const char* name;
  int bits;
  bool (*on_this_processor)();
};

constexpr SimdSet kSets[] = {
#define SUMAC_SIMD_SET(name, bits, has, find) {name, bits, has},
#include "kernels/simd_sets.def"
#undef SUMAC_SIMD_SET
};
constexpr int kNumSets = sizeof(kSets) / sizeof(kSets[0]);

struct Names {
  constexpr Names() {
    for (int i = 0; i < kNumSets; ++i) name[i] = kSets[i].name;
  }
  const char* name[kNumSets + 1] = {};  // the last stays nullptr
};
constexpr Names kNames;

// Returns the best set that the processor has.
int first_set() {
  int set = 0;
  while (!kSets[set].on_this_processor()) ++set;
  return set;
}

// Returns `set`, or the first set behind it with vectors of at most 256 bits.
int at_most_256_bits(int set) {
  while (kSets[set].bits > 256) ++set;
  return set;
}

// Returns true for reductions in which AVX-512 also saves instructions: it multiplies 64-bit
// integers by one instruction where AVX2 takes eight, and has their minimum and maximum, which AVX2
// composes of a comparison and a selection. All others do with 512 bits what they do with 256.
bool saves_instructions(Op op, DType type) {
  const bool of_64_bits = type == DType::i64 || type == DType::u64;
  return of_64_bits && (op == Op::prod || op == Op::min || op == Op::max);
}

std::atomic<int> forced_set{-1};  // index in kSets; -1: automatic

constexpr int kAutomatic = -1, kLacking = -2, kUnknown = -3;

// Users also know the sets by these names, here in lower case and without - _ . and blanks.
struct Alias {
  const char *name, *set;
};
constexpr Alias kAliases[] = {
    {"native", "auto"},   {"default", "auto"},  {"best", "auto"},     {"avx512fp16", "avx3_fp16"},
    {"avx512", "avx3"},   {"avx512f", "avx3"},  {"avx512bw", "avx3"}, {"avx512vl", "avx3"},
    {"avx512dq", "avx3"}, {"avx512cd", "avx3"}, {"512bit", "avx3"},   {"256", "256bit"},
    {"sse41", "sse4"},    {"sse42", "sse4"},    {"asimd", "neon"},    {"advsimd", "neon"},
    {"sve2", "sve"},      {"none", "scalar"},   {"plain", "scalar"},  {"generic", "scalar"},
};

// The list has the sets of all processors, so that the set of another kind of processor is also
// known as a name.
constexpr const char* kAllNames[] = {"auto",  "256bit", "avx3_fp16", "avx3", "avx2",  "sse4",
                                     "ssse3", "sse2",   "sve",       "neon", "scalar"};

// The name is in lower case, without the separators in common use. It is cut off if it is longer
// than any name.
struct PlainName {
  char text[16] = "";

  explicit PlainName(const char* name) {
    std::size_t used = 0;
    for (; *name && used + 1 < sizeof text; ++name) {
      if (std::strchr("-_. ", *name)) continue;
      text[used++] = *name >= 'A' && *name <= 'Z' ? static_cast<char>(*name - 'A' + 'a') : *name;
    }
    text[used] = '\0';
  }
  bool operator==(const char* other) const { return std::strcmp(text, other) == 0; }
};

// Returns the name among kAllNames, or null.
const char* usual_name(const char* name) {
  const PlainName plain(name);
  const int word = sumac_switch_word(name);
  if (word >= 0) return word ? "auto" : "scalar";
  for (const Alias& alias : kAliases) {
    if (plain == alias.name) return alias.set;
  }
  for (const char* known : kAllNames) {
    if (plain == PlainName(known).text) return known;
  }
  return nullptr;
}

// Returns the set of that name.
int set_of(const char* name) {
  name = usual_name(name);
  if (!name) return kUnknown;
  if (std::strcmp(name, "auto") == 0) return kAutomatic;
  if (std::strcmp(name, "256bit") == 0) return at_most_256_bits(first_set());
  for (int set = first_set(); set < kNumSets; ++set) {
    if (std::strcmp(name, kSets[set].name) == 0) return set;
  }
  return kLacking;
}

}  // namespace

int automatic_set(const Processor& processor, Op op, DType type) {
  if (!processor.lowers_its_clock || saves_instructions(op, type)) return processor.best_set;
  return at_most_256_bits(processor.best_set);
}

int set_for(Op op, DType type) {
  const int forced = forced_set.load(std::memory_order_relaxed);
  return forced >= 0 ? forced : automatic_set({first_set(), lowers_its_clock()}, op, type);
}

const char* name_of_set(int set) { return kSets[set].name; }

const char* simd_name() { return kSets[sumac_simd_set()].name; }

const char* usual_simd_name(const char* name) { return usual_name(name); }

const char* const* simd_names() { return kNames.name + first_set(); }

bool force_simd(const char* name) {
  const int set = set_of(name);
  if (set < kAutomatic) return false;
  forced_set.store(set, std::memory_order_relaxed);
  return true;
}

}  // namespace sumac

int sumac_simd_set() { return sumac::set_for(sumac::Op::none, sumac::DType::none); }

int sumac_simd_is_known(const char* name) { return sumac::usual_name(name) != nullptr; }

// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduce.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <tuple>

#include "testing/element.h"
#include "testing/thorough.h"

namespace sumac {
namespace {

constexpr std::size_t kGuard = 128;  // bytes on either side of dst
constexpr int kNotInPlace = -1;

std::vector<std::size_t> counts() {
  std::vector<std::size_t> result = {255, 256, 257, 1000, 4099};
  for (std::size_t count = 0; count <= 67; ++count) result.push_back(count);
  return result;
}
constexpr std::size_t kMaxCount = 4099;
constexpr std::size_t kMaxElement = 32;  // bytes

std::vector<std::string> sets() {
  std::vector<std::string> result;
  for (const char* const* name = simd_names(); *name != nullptr; ++name) result.push_back(*name);
  return result;
}

// Says where buffer number k (dst is the last) starts, in bytes past a 64-byte boundary.
struct Placement {
  const char* name;
  std::size_t (*offset)(std::size_t k, std::size_t element);
};
constexpr Placement kPlacements[] = {
    {"aligned", [](std::size_t, std::size_t) -> std::size_t { return 0; }},
    {"as malloc", [](std::size_t, std::size_t) -> std::size_t { return 16; }},
    {"by elements", [](std::size_t k, std::size_t element) { return (3 * k + 1) * element % 64; }},
    {"by bytes", [](std::size_t k, std::size_t) { return (7 * k + 3) % 64; }},
};

struct alignas(64) Buffer {
  unsigned char bytes[kGuard + 64 + kMaxCount * kMaxElement + kGuard];
};

// A case is one operation, type and number of sources, for whatever count, placement and aliasing.
template <class T>
class Case {
 public:
  Case(Op op, DType type, int num_srcs, const std::vector<std::vector<T>>& values)
      : num_srcs_(num_srcs),
        kernel_(find_reduce(op, type)),
        values_(values),
        expected_(oracle::reduce(op, values, num_srcs)),
        buffers_(num_srcs + 1) {}

  // offset(k) places buffer number k (dst is the last), in bytes past a 64-byte boundary.
  template <class Offset>
  void place(Offset offset, std::size_t count = kMaxCount) {
    srcs_.resize(num_srcs_);
    placed_ = count;
    for (int k = 0; k <= num_srcs_; ++k) {
      unsigned char* start = buffers_[k].bytes + kGuard + offset(k);
      if (k == num_srcs_) {
        dst_ = start;
      } else {
        srcs_[k] = start;
        std::memcpy(start, values_[k].data(), placed_ * sizeof(T));
      }
    }
  }

  // Returns the difference found, or nothing. dst takes the place of source `in_place`, if that is
  // one.
  std::string run(std::size_t count, int in_place) {
    const std::size_t bytes = count * sizeof(T);
    std::memset(dst_ - kGuard, 0xA5, kGuard + bytes + kGuard);
    std::vector<const void*> srcs = srcs_;
    if (in_place != kNotInPlace) {
      std::memcpy(dst_, values_[in_place].data(), bytes);
      srcs[in_place] = dst_;
    }
    kernel_(dst_, srcs.data(), num_srcs_, count);
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (dst_[-1 - static_cast<std::ptrdiff_t>(i)] != 0xA5) return "wrote before dst";
      if (dst_[bytes + i] != 0xA5) return "wrote past dst";
    }
    return std::memcmp(dst_, expected_.data(), bytes) == 0 ? "" : first_difference(count);
  }

  bool sources_untouched() const {
    for (int k = 0; k < num_srcs_; ++k) {
      if (std::memcmp(srcs_[k], values_[k].data(), placed_ * sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  static std::string hex(const void* element) {
    std::string text = " ";
    for (std::size_t i = sizeof(T); i-- > 0;) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<const unsigned char*>(element)[i]);
      text += digits;
    }
    return text;
  }

  std::string first_difference(std::size_t count) const {
    std::size_t i = 0;
    while (i < count && std::memcmp(dst_ + i * sizeof(T), &expected_[i], sizeof(T)) == 0) ++i;
    std::string text = "element " + std::to_string(i) + ":" + hex(dst_ + i * sizeof(T)) + ", not" +
                       hex(&expected_[i]) + ", of";
    for (int k = 0; k < num_srcs_; ++k) text += hex(&values_[k][i]);
    return text;
  }

  int num_srcs_;
  std::size_t placed_ = 0;  // elements in each source
  ReduceFn kernel_;
  const std::vector<std::vector<T>>& values_;
  std::vector<T> expected_;
  std::vector<Buffer> buffers_;
  std::vector<const void*> srcs_;
  unsigned char* dst_ = nullptr;
};

// Unoptimised builds take each count at one of the places of dst, instead of at all of them.
#if defined(__OPTIMIZE__)
constexpr bool kAllInPlace = true;
#else
constexpr bool kAllInPlace = false;
#endif

template <class T>
std::vector<std::vector<T>> all_sources(std::size_t count) {
  std::vector<std::vector<T>> values;
  for (int k = 0; k < kMaxSources; ++k) values.push_back(oracle::source<T>(k, count));
  return values;
}

// Sweeps every number of sources and counts around every length of loop, with dst in the place of
// any source.
template <class T>
void sweep(Op op, DType type, int num_srcs, const std::vector<std::vector<T>>& values) {
  Case<T> test(op, type, num_srcs, values);
  for (const Placement& placement : kPlacements) {
    test.place([&](std::size_t k) { return placement.offset(k, sizeof(T)); });
    for (const std::size_t count : counts()) {
      for (int in_place = kNotInPlace; in_place < num_srcs; ++in_place) {
        if (!kAllInPlace && in_place != static_cast<int>(count % (num_srcs + 1)) - 1) continue;
        const std::string problem = test.run(count, in_place);
        ASSERT_EQ(problem, "") << name_of(op) << " of " << num_srcs << " sources, " << count
                               << " elements, " << placement.name << ", dst is source " << in_place;
      }
    }
    ASSERT_TRUE(test.sources_untouched()) << name_of(op) << " of " << num_srcs << " sources";
  }
}

template <class T>
void sweep_sources(DType type) {
  const auto values = all_sources<T>(kMaxCount);
  for (int op = 0; op < kNumOps; ++op) {
    if (!is_defined(static_cast<Op>(op), type)) continue;
    for (int num_srcs = 1; num_srcs <= kMaxSources; ++num_srcs) {
      sweep<T>(static_cast<Op>(op), type, num_srcs, values);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

struct Form {
  int in_place;
  bool streaming;
};

// Sweeps every length up to 300 at every offset: the two-source forms, in place and with three
// buffers, the latter also with stores past the caches. Only a thorough test takes every length at
// each offset. Returns the number of cases.
template <class T>
long sweep_offsets(DType type) {
  constexpr std::size_t kMost = 300;
  const std::size_t step = thorough() ? 1 : kAllInPlace ? 4 : 16;
  const auto values = all_sources<T>(kMost);
  long cases = 0;
  for (int op = 0; op < kNumOps; ++op) {
    if (!is_defined(static_cast<Op>(op), type)) continue;
    Case<T> test(static_cast<Op>(op), type, 2, values);
    for (std::size_t offset = 0; offset < 64; ++offset) {
      test.place([&](std::size_t k) { return (offset + 8 * (2 - k) * offset) % 64; }, kMost);
      for (std::size_t count = 0; count <= kMost; ++count) {
        if (count % step != offset % step) continue;
        for (const auto& [in_place, streaming] :
             {Form{kNotInPlace, false}, {kNotInPlace, true}, {1, false}}) {
          ++cases;
          set_stream_bytes(streaming ? 0 : SIZE_MAX);
          const std::string problem = test.run(count, in_place);
          EXPECT_EQ(problem, "") << name_of(static_cast<Op>(op)) << ", " << count
                                 << " elements, offset " << offset << ", dst is source "
                                 << in_place;
          if (!problem.empty()) return cases;
        }
      }
    }
  }
  return cases;
}

// Large vectors are read in blocks of pages. This tests whole blocks and remainders of the last.
template <class T>
void sweep_large(DType type) {
  constexpr std::size_t kBytes = (2 << 20) + (3 << 14) + 1000;
  const std::size_t count = kBytes / sizeof(T);
  std::vector<std::vector<T>> values;
  for (int k = 0; k < 2; ++k) values.push_back(oracle::source<T>(k, count));
  const Op op = is_defined(Op::sum, type) ? Op::sum : Op::minloc;
  const std::vector<T> expected = oracle::reduce(op, values, 2);
  for (const std::size_t offset : {0, 8, 24}) {
    for (const bool streaming : {false, true}) {
      set_stream_bytes(streaming ? 0 : SIZE_MAX);
      std::vector<unsigned char> memory(count * sizeof(T) + offset + 64);
      void* dst = memory.data() + offset;
      const void* srcs[] = {values[0].data(), streaming ? values[1].data() : dst};
      if (!streaming) std::memcpy(dst, values[1].data(), count * sizeof(T));
      find_reduce(op, type)(dst, srcs, 2, count);
      ASSERT_EQ(std::memcmp(dst, expected.data(), count * sizeof(T)), 0) << offset << streaming;
      const auto* past = static_cast<unsigned char*>(dst) + count * sizeof(T);
      ASSERT_TRUE(std::all_of(past, past + 64, [](unsigned char byte) { return byte == 0; }));
    }
  }
}

using SetAndType = std::tuple<std::string, int>;
class EachSetAndType : public testing::TestWithParam<SetAndType> {
 protected:
  void SetUp() override { ASSERT_TRUE(force_simd(std::get<0>(GetParam()).c_str())); }
  void TearDown() override {
    force_simd("auto");
    set_stream_bytes(SIZE_MAX);
  }
};

TEST_P(EachSetAndType, GivesTheBitsOfASerialLoop) {
  const DType type = static_cast<DType>(std::get<1>(GetParam()));
  ASSERT_EQ(simd_name(), std::get<0>(GetParam()));
  oracle::with_element(type, [&](auto element) { sweep_sources<decltype(element)>(type); });
}

TEST_P(EachSetAndType, GivesTheSameBitsAtEveryLengthAndOffset) {
  const DType type = static_cast<DType>(std::get<1>(GetParam()));
  long cases = 0;
  oracle::with_element(type, [&](auto element) { cases = sweep_offsets<decltype(element)>(type); });
  EXPECT_GT(cases, 0);
  std::printf("%s: %ld cases\n", simd_name(), cases);
}

TEST_P(EachSetAndType, GivesTheBitsOfASerialLoopForLargeVectors) {
  const DType type = static_cast<DType>(std::get<1>(GetParam()));
  oracle::with_element(type, [&](auto element) { sweep_large<decltype(element)>(type); });
}

// Any access just before or just after this page faults.
class Page {
 public:
  Page() {
    map_ = static_cast<unsigned char*>(
        mmap(nullptr, 3 * size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(map_ + size(), size(), PROT_READ | PROT_WRITE);
  }
  ~Page() { munmap(map_, 3 * size()); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  unsigned char* begin() const { return map_ + size(); }
  unsigned char* end() const { return map_ + 2 * size(); }

 private:
  static std::size_t size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  unsigned char* map_;
};

TEST_P(EachSetAndType, ReadsNothingOutsideItsBuffers) {
  const DType type = static_cast<DType>(std::get<1>(GetParam()));
  std::vector<Page> pages(kMaxSources + 1);
  for (int op = 0; op < kNumOps; ++op) {
    if (!is_defined(static_cast<Op>(op), type)) continue;
    const ReduceFn kernel = find_reduce(static_cast<Op>(op), type);
    for (int num_srcs = 1; num_srcs <= kMaxSources; ++num_srcs) {
      for (std::size_t count = 0; count <= 120; ++count) {
        const void* first[kMaxSources];
        const void* last[kMaxSources];
        const std::size_t bytes = count * size_of(type);
        for (int k = 0; k < num_srcs; ++k) {
          first[k] = pages[k].begin();
          last[k] = pages[k].end() - bytes;
        }
        kernel(pages[num_srcs].begin(), first, num_srcs, count);
        kernel(pages[num_srcs].end() - bytes, last, num_srcs, count);
      }
    }
  }
}

// Returns the sets and types to test. Types without vector kernels have the same kernel in every
// set.
std::vector<SetAndType> sets_and_types() {
  std::vector<SetAndType> result;
  const std::vector<std::string> names = sets();
  for (const std::string& set : names) {
    for (int type = 0; type < kNumDTypes; ++type) {
      if (kDTypes[type].vector() || set == names.front()) result.emplace_back(set, type);
    }
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Kernels, EachSetAndType, testing::ValuesIn(sets_and_types()),
                         [](const testing::TestParamInfo<SetAndType>& instance) {
                           return std::get<0>(instance.param) + "_" +
                                  name_of(static_cast<DType>(std::get<1>(instance.param)));
                         });

TEST(FindReduce, HasEveryDefinedPairAndNoOther) {
  for (const std::string& set : sets()) {
    ASSERT_TRUE(force_simd(set.c_str()));
    for (int op = 0; op <= kNumOps; ++op) {
      for (int type = 0; type <= kNumDTypes; ++type) {
        const bool defined = is_defined(static_cast<Op>(op), static_cast<DType>(type));
        EXPECT_EQ(find_reduce(static_cast<Op>(op), static_cast<DType>(type)) != nullptr, defined)
            << set << " " << op << " " << type;
      }
    }
  }
  force_simd("auto");
}

TEST(Simd, ForcingTakesEffect) {
  std::set<ReduceFn> kernels;
  for (const std::string& set : sets()) {
    ASSERT_TRUE(force_simd(set.c_str()));
    EXPECT_EQ(simd_name(), set);
    EXPECT_TRUE(kernels.insert(find_reduce(Op::sum, DType::f16)).second) << set;
    if (set == "avx3_fp16") continue;  // its other kernels are those of avx3
    EXPECT_TRUE(kernels.insert(find_reduce(Op::sum, DType::f64)).second) << set;
    EXPECT_TRUE(kernels.insert(find_reduce(Op::min, DType::i8)).second) << set;
    EXPECT_TRUE(kernels.insert(find_reduce(Op::prod, DType::c64)).second) << set;
    EXPECT_TRUE(kernels.insert(find_reduce(Op::maxloc, DType::f64_i32)).second) << set;
  }
  EXPECT_TRUE(force_simd("256bit"));
  const std::string name = simd_name();
  EXPECT_TRUE(name.rfind("avx3", 0) != 0 && name != "scalar") << name;
  EXPECT_TRUE(force_simd("auto"));
}

TEST(Simd, RefusesUnknownNames) {
  ASSERT_TRUE(force_simd("scalar"));
  for (const char* name : {"", "avx", "avx9", "mmx", "scalars"}) {
    EXPECT_FALSE(force_simd(name)) << name;
    EXPECT_STREQ(simd_name(), "scalar");
  }
  force_simd("auto");
}

#if defined(__x86_64__)
// The kernel's list of flags is a witness independent of the compiler's run-time.
TEST(Simd, OffersWhatTheProcessorHas) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::set<std::string> flags;
  for (std::string word; cpuinfo >> word;) flags.insert(word);
  ASSERT_TRUE(flags.count("sse2"));
  const std::vector<std::string> names = sets();
  const auto offers = [&](const char* name) {
    return std::count(names.begin(), names.end(), name) == 1;
  };
  const auto has_all = [&](std::initializer_list<const char*> wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const char* flag) { return flags.count(flag) == 1; });
  };
  EXPECT_TRUE(offers("sse2"));
  EXPECT_TRUE(offers("scalar"));
  EXPECT_EQ(offers("ssse3"), has_all({"ssse3"}));
  EXPECT_EQ(offers("sse4"), has_all({"ssse3", "sse4_1", "sse4_2"}));
  EXPECT_EQ(offers("avx2"), has_all({"avx2", "bmi1", "bmi2", "fma", "f16c"}));
  EXPECT_EQ(offers("avx3"), has_all({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"}));
}
#endif

}  // namespace
}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Measures bytes per second of the kernels and of memcpy: bytes read from every source plus bytes
// written. A name ends with the number of sources and the bytes of each.
//   SUMAC_SIMD=avx2 kernels_bench --benchmark_filter='memcpy|sum_double'
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/reduce.h"

namespace sumac {
namespace {

constexpr std::int64_t kSizes[] = {8, 64, 1 << 10, 1 << 16, 1 << 20, 1 << 26};  // bytes of dst
constexpr int kNumSources[] = {2, 4, 8};

struct OpAndType {
  Op op;
  DType type;
};
constexpr OpAndType kPairs[] = {
    {Op::sum, DType::f64}, {Op::sum, DType::f32},  {Op::max, DType::f64},  {Op::prod, DType::f32},
    {Op::sum, DType::i32}, {Op::min, DType::i64},  {Op::prod, DType::i64}, {Op::prod, DType::i8},
    {Op::sum, DType::i16}, {Op::band, DType::u32}, {Op::land, DType::i32}};

// The buffers of one benchmark lie, relative to the start of a page, where malloc places large
// ones.
class BenchmarkBuffers {
 public:
  BenchmarkBuffers(int num, std::size_t bytes) : stride_((bytes + 8191) / 4096 * 4096), num_(num) {
    memory_ = static_cast<char*>(std::aligned_alloc(4096, stride_ * num));
    std::memset(memory_, 0, stride_ * num);
  }
  ~BenchmarkBuffers() { std::free(memory_); }
  BenchmarkBuffers(const BenchmarkBuffers&) = delete;
  BenchmarkBuffers& operator=(const BenchmarkBuffers&) = delete;
  char* operator[](int k) const { return memory_ + k * stride_ + 16; }
  std::vector<const void*> sources() const {
    std::vector<const void*> result;
    for (int k = 1; k < num_; ++k) result.push_back((*this)[k]);
    return result;
  }

 private:
  std::size_t stride_;
  int num_;
  char* memory_;
};

// Copies as many bytes as a reduction of num_srcs sources touches, so that both run in the same
// caches.
void copy(benchmark::State& state, int num_srcs, std::size_t bytes) {
  const std::size_t half = bytes * (num_srcs + 1) / 2;
  const BenchmarkBuffers buffers(2, half);
  for (auto _ : state) {
    std::memcpy(buffers[0], buffers[1], half);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * half * 2);
}

void reduce(benchmark::State& state, OpAndType pair, int num_srcs, std::size_t bytes) {
  const BenchmarkBuffers buffers(num_srcs + 1, bytes);
  const std::vector<const void*> srcs = buffers.sources();
  const ReduceFn kernel = find_reduce(pair.op, pair.type);
  const std::size_t count = bytes / size_of(pair.type);
  for (auto _ : state) {
    kernel(buffers[0], srcs.data(), num_srcs, count);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * bytes * (num_srcs + 1));
}

std::string name(const char* what, int num_srcs, std::int64_t bytes) {
  return std::string(what) + "/" + std::to_string(num_srcs) + "/" + std::to_string(bytes);
}

void register_all() {
  for (const std::int64_t bytes : kSizes) {
    for (const int num_srcs : kNumSources) {
      benchmark::RegisterBenchmark(name("memcpy", num_srcs, bytes).c_str(), copy, num_srcs, bytes);
      for (const OpAndType pair : kPairs) {
        const std::string what = std::string(name_of(pair.op)) + "_" + name_of(pair.type);
        benchmark::RegisterBenchmark(name(what.c_str(), num_srcs, bytes).c_str(), reduce, pair,
                                     num_srcs, bytes);
      }
    }
  }
}

}  // namespace
}  // namespace sumac

int main(int argc, char** argv) {
  const char* set = std::getenv("SUMAC_SIMD");
  if (set != nullptr && !sumac::force_simd(set)) {
    std::fprintf(stderr, "SUMAC_SIMD=%s: not on this processor\n", set);
    return 2;
  }
  benchmark::AddCustomContext("simd", sumac::simd_name());
  sumac::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

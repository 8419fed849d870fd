// SPDX-License-Identifier: BSD-3-Clause
// reduction-instructions SET OP TYPE ELEMENTS: makes one call of a kernel, whose instructions
// callgrind counts in `measured_call`. Exit status: 0 done, 2 usage, 3 this processor lacks the
// instruction set.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/types.h"
#include "kernels/reduce.h"

namespace {

constexpr std::size_t kAlignment = 64;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// Zeroed memory, already in the cache.
Memory zeros(std::size_t bytes) {
  const std::size_t size = (bytes / kAlignment + 1) * kAlignment;
  Memory memory(std::aligned_alloc(kAlignment, size));
  if (memory) std::memset(memory.get(), 0, size);
  return memory;
}

// The value of the enumeration that name_of() calls `name`, or `none`.
template <typename Enumeration>
Enumeration named(const char* name, int number) {
  for (int i = 0; i < number; i++)
    if (std::strcmp(name, sumac::name_of(Enumeration(i))) == 0) return Enumeration(i);
  return Enumeration::none;
}

int fail(int status, const char* what) {
  std::fprintf(stderr, "reduction-instructions: %s\n", what);
  return status;
}

}  // namespace

// Callgrind counts the function of this name. It adds one jump to the kernel.
extern "C" [[gnu::noinline]] void measured_call(sumac::ReduceFn kernel, void* inout,
                                                const void* const* sources, std::size_t count) {
  kernel(inout, sources, 2, count);
  asm volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  if (argc != 5) return fail(2, "wants SET OP TYPE ELEMENTS");
  const auto op = named<sumac::Op>(argv[2], sumac::kNumOps);
  const auto type = named<sumac::DType>(argv[3], sumac::kNumDTypes);
  const std::size_t count = std::strtoull(argv[4], nullptr, 10);
  if (!sumac::force_simd(argv[1])) return fail(3, "no such instruction set here");
  const sumac::ReduceFn kernel = sumac::find_reduce(op, type);
  if (kernel == nullptr || count == 0) return fail(2, "no such operation, type or number");
  const Memory in = zeros(count * size_of(type)), inout = zeros(count * size_of(type));
  if (!in || !inout) return fail(1, "no memory");
  const void* const sources[] = {in.get(), inout.get()};
  measured_call(kernel, inout.get(), sources, count);
}

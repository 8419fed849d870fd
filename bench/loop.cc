// SPDX-License-Identifier: BSD-3-Clause
#include "loop.h"

#include <utility>

#include "elements.h"

namespace sumac::bench {
namespace {

template <typename T, Op op>
void plain_loop(const void* in, void* inout, std::size_t count) {
  const T* const a = static_cast<const T*>(in);
  T* const b = static_cast<T*>(inout);
  for (std::size_t i = 0; i < count; i++) b[i] = combined(op, a[i], b[i]);
}

template <typename T, std::size_t... ops>
Loop pick(Op op, std::index_sequence<ops...>) {
  constexpr Loop kLoops[] = {&plain_loop<T, Op(ops)>...};
  return kLoops[static_cast<int>(op)];
}

}  // namespace

Loop loop(DType type, Op op) {
  return with_type(
      type, [op]<typename T>(Type<T>) { return pick<T>(op, std::make_index_sequence<kNumOps>()); });
}

}  // namespace sumac::bench

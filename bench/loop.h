// SPDX-License-Identifier: BSD-3-Clause
// The loop that a program would write itself, compiled as programs are (-O2).
#pragma once

#include <cstddef>

#include "base/types.h"

namespace sumac::bench {

// inout[i] = in[i] op inout[i] for i < count.
using Loop = void (*)(const void* in, void* inout, std::size_t count);

// The loop for a pair that is_defined(). Null for types that programs do not have as numbers.
Loop loop(DType type, Op op);

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// The bytes of an element that are data. The others, padding of a C struct or of an x87 long
// double, may have any value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace sumac::bench {

// Bit i is set where byte i of an element is data.
std::uint32_t data_bytes(DType type);

// The number of elements of a and b that differ in a byte of data.
std::size_t differing_elements(DType type, const void* a, const void* b, std::size_t count);

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of an element are data. The others, padding of a C struct or of an x87 number, may
// hold anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace sumac::bench {

// Bit i is set where byte i of an element is data.
std::uint32_t data_bytes(DType type);

// How many elements of a and b differ in a byte of data.
std::size_t differing_elements(DType type, const void* a, const void* b, std::size_t count);

}  // namespace sumac::bench

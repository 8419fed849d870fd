// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sumac {

// Returns a hash that is equal on two ranks if their back ends were made from the same sources,
// wherever they were built.
std::uint64_t build_hash();

}  // namespace sumac

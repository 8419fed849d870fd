// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sumac {

// Equal on two ranks when their back ends were made from the same sources, wherever they were
// built.
std::uint64_t build_hash();

}  // namespace sumac

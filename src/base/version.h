// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace sumac {

// Equal on two ranks when they run the same build of the library.
inline std::uint64_t build_hash() { return hash_text(SUMAC_VERSION); }

}  // namespace sumac

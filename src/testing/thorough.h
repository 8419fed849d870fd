// SPDX-License-Identifier: BSD-3-Clause
// How much a test of very many cases tries.
#pragma once

#include <cstdlib>

namespace sumac {

// True where SUMAC_TEST_MORE is set, as it is in 'make check-all': such a test then tries all cases,
// otherwise a part of them.
inline bool thorough() { return std::getenv("SUMAC_TEST_MORE") != nullptr; }

}  // namespace sumac

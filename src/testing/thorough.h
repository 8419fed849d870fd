// SPDX-License-Identifier: BSD-3-Clause
// Tests of very many cases ask here how many they try.
#pragma once

#include <cstdlib>

namespace sumac {

// Returns true if SUMAC_TEST_MORE is set, as it is in 'make check-all': the test then tries all its
// cases, and otherwise a part of them.
inline bool thorough() { return std::getenv("SUMAC_TEST_MORE") != nullptr; }

}  // namespace sumac

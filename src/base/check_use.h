// SPDX-License-Identifier: BSD-3-Clause
// SUMAC_CHECK=results compares the results of calls with the MPI's own. The checks count the
// outcomes that are listed here, and the statistics print them.
#pragma once

#include <cstdint>

#include "base/use_text.h"

namespace sumac {

enum class CheckUse : std::uint8_t { equal, undecided, unchecked, differed };
inline constexpr int kNumCheckUses = 4;

inline constexpr UseText kCheckUseTexts[kNumCheckUses] = {
    {"equal", "results compared with the MPI's own: equal, or within the bound"},
    {"undecided", "results that differ from the MPI's own in a way that the standard allows"},
    {"unchecked", "calls whose results could not be compared with the MPI's own"},
    {"differed", "WRONG: results that differ from the MPI's own"},
};

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The outcome of the calls whose results were compared with the MPI's own (SUMAC_CHECK=results):
// counted by the checks, printed by the statistics.
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

// SPDX-License-Identifier: BSD-3-Clause
// This header has the reasons of refusals.def as values.
#pragma once

#include <cstdint>

namespace sumac::promotion {

enum class Refusal : std::uint8_t {
  none,
#define SUMAC_REFUSAL(name, scope, text) name,
#include "base/refusals.def"
#undef SUMAC_REFUSAL
  count
};
inline constexpr int kRefusals = static_cast<int>(Refusal::count);

inline constexpr const char* kRefusalTexts[kRefusals] = {
    "",
#define SUMAC_REFUSAL(name, scope, text) text,
#include "base/refusals.def"
#undef SUMAC_REFUSAL
};

// Returns the text that explains it; "" for none.
constexpr const char* refusal_text(Refusal refusal) {
  return kRefusalTexts[static_cast<int>(refusal)];
}

}  // namespace sumac::promotion

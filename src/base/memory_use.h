// SPDX-License-Identifier: BSD-3-Clause
// `src/promotion` counts buffers whose pages other ranks can map, and buffers that it refused.
// These are the names of its counters, which the statistics print.
#pragma once

#include <cstdint>

#include "base/use_text.h"

namespace sumac {

enum class MemoryUse : std::uint8_t { promotions, promoted, huge, given_back, made_private };

inline constexpr UseText kMemoryUseTexts[] = {
    {"promotions", "promotions of buffers to pages that other ranks map (SUMAC_PROMOTE)"},
    {"promoted_bytes", "bytes promoted"},
    {"huge_bytes", "bytes of these in huge pages, as before"},
    {"given_back_bytes", "bytes given back after the program had freed them"},
    {"made_private_bytes", "bytes made private again, before the program moved them"},
};
inline constexpr int kNumMemoryUses = 5;

// Each text says why a buffer was not promoted.
inline constexpr UseText kRefusalTexts[] = {
#define SUMAC_REFUSAL(name, scope, text) {#name, text},
#include "base/refusals.def"
#undef SUMAC_REFUSAL
};
inline constexpr int kNumRefusals = sizeof kRefusalTexts / sizeof kRefusalTexts[0];

}  // namespace sumac

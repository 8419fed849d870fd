// SPDX-License-Identifier: BSD-3-Clause
// Sumac packs messages, and blocks of all-to-alls (SUMAC_PACK_MESSAGES). The back end counts them,
// and the statistics print the counters.
#pragma once

#include <cstdint>

#include "base/use_text.h"

namespace sumac {

enum class MessageUse : std::uint8_t { sent, received };
inline constexpr UseText kMessageUseTexts[] = {
    {"sent", "packed by Sumac, and sent by the MPI as bytes (SUMAC_PACK_MESSAGES)"},
    {"received", "received by the MPI as bytes, and unpacked by Sumac"},
};
inline constexpr int kNumMessageUses = 2;

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Messages, and blocks of all-to-alls, that Sumac packs (SUMAC_PACK_MESSAGES): counted by the back
// end, printed by the statistics.
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

// SPDX-License-Identifier: BSD-3-Clause
#include "promotion/refusals.h"

namespace sumac::promotion {
namespace {

constexpr const char* kTexts[kRefusals] = {
    "",
#define SUMAC_REFUSAL(name, scope, text) text,
#include "base/refusals.def"
#undef SUMAC_REFUSAL
};

}  // namespace

const char* refusal_text(Refusal refusal) { return kTexts[static_cast<int>(refusal)]; }

}  // namespace sumac::promotion

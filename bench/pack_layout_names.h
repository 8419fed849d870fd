// SPDX-License-Identifier: BSD-3-Clause
// The rows of pack_layouts.def by their names.
#pragma once

namespace sumac::bench {

enum class Layout {
#define SUMAC_LAYOUT(name, what, made) name,
#include "pack_layouts.def"
#undef SUMAC_LAYOUT
};

inline constexpr const char* kLayoutNames[] = {
#define SUMAC_LAYOUT(name, what, made) #name,
#include "pack_layouts.def"
#undef SUMAC_LAYOUT
};
inline constexpr int kNumLayouts = sizeof kLayoutNames / sizeof kLayoutNames[0];

constexpr const char* name_of(Layout layout) { return kLayoutNames[static_cast<int>(layout)]; }

}  // namespace sumac::bench

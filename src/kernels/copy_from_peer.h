// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace sumac {

// memcpy of what another processor has just written, as a rank does that copies out of another's
// slot. The places do not overlap.
void copy_from_peer(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace sumac {

// Copies like memcpy, but fast for data that another processor has just written, such as another
// rank's slot. The places must not overlap.
void copy_from_peer(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace sumac

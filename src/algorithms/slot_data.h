// SPDX-License-Identifier: BSD-3-Clause
// Where the data of one chunk lies in a slot: beside the flag when they fit in its cache line.
#pragma once

#include <cstring>

#include "transport/shm/group.h"

namespace sumac {

inline std::byte* slot_data(const ShmGroup& group, int rank, std::uint64_t position,
                            std::size_t bytes) {
  return bytes <= kInlineBytes ? group.inline_data(rank, position) : group.payload(rank, position);
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Ranks tell each other what must be equal on all of them in a call (SUMAC_CHECK=calls).
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"
#include "levels/levels_operation.h"
#include "transport/shm/layout.h"

namespace sumac {

// `what` of an Announcement has, from the lowest bit on: collective, operation, element, root.
inline constexpr int kCollectiveBits = 4, kOpBits = 4, kElementBits = 8;

// Returns ChosenCall::reduces. Elements are of one class if the operation does the same with them,
// such as signed and unsigned integers of one size in a sum. Op::none stands for a function of the
// program's.
std::uint32_t reduces_by(Op op, DType element);

inline constexpr std::uint32_t kReducesByFunction =
    static_cast<std::uint32_t>(Op::none) | static_cast<std::uint32_t>(DType::none) << kOpBits;

// Returns a text such as "MPI_Reduce to root 2, sum of double, 64 bytes".
std::string text_of(const Announcement& call);

}  // namespace sumac

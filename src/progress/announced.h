// SPDX-License-Identifier: BSD-3-Clause
// Ranks tell each other what must be equal on all of them in a call (SUMAC_CHECK=calls).
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"
#include "levels/levels_operation.h"
#include "transport/shm/layout.h"

namespace sumac {

// Returns ChosenCall::reduces. Elements are of one class if the operation does the same with them,
// such as signed and unsigned integers of one size in a sum. Op::none stands for a function of the
// program's.
std::uint32_t reduces_by(Op op, DType element);

// `what` of an Announcement has, from the lowest bit on: collective, operation, element, root.
inline constexpr int kCollectiveBits = 4, kOpBits = 4, kElementBits = 8;

inline constexpr std::uint32_t kReducesByFunction =
    static_cast<std::uint32_t>(Op::none) | static_cast<std::uint32_t>(DType::none) << kOpBits;

inline Announcement announcement_of(const ChosenCall& call) {
  std::uint64_t root = 0;
  if (call.collective == Collective::bcast) root = static_cast<std::uint32_t>(call.bcast.root);
  if (call.collective == Collective::reduce) root = static_cast<std::uint32_t>(call.reduction.root);
  return {static_cast<std::uint64_t>(call.collective) |
              std::uint64_t{call.reduces} << kCollectiveBits |
              root << (kCollectiveBits + kOpBits + kElementBits),
          call.bytes()};
}

// Returns a text such as "MPI_Reduce to root 2, sum of double, 64 bytes".
std::string text_of(const Announcement& call);

}  // namespace sumac

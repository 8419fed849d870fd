// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm is given: plain values, the same on all ranks but for addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/user_fold.h"
#include "base/align.h"
#include "kernels/reduce.h"
#include "transport/peer_memory.h"

namespace sumac {

struct ReduceArguments {
  const std::byte* input = nullptr;  // equals output when in place
  std::byte* output = nullptr;       // reduce: significant at the root only, else null
  std::size_t count = 0;             // elements
  std::size_t element = 0;           // bytes of one
  ReduceFn kernel = nullptr;         // what folds, where `user` is null
  int root = 0;                      // reduce only
  const void* native = nullptr;      // what Messages::native_allreduce knows type and operation by
  // For the algorithms over lines and slots, in which each rank folds for itself: elements are then
  // of any size, packed. Vectors are cut at multiples of `unit` bytes, whole elements.
  UserFold* user = nullptr;
  std::size_t unit = kCacheLine;

  std::size_t bytes() const { return count * element; }
};

struct BcastArguments {
  std::byte* buffer = nullptr;  // packed: the same bytes in the same order on all ranks
  std::size_t bytes = 0;
  int root = 0;
};

struct BarrierArguments {};

// Of whichever collective a call is.
struct CallArguments {
  ReduceArguments reduction;
  BcastArguments bcast;
};

// For algorithms that reach into other ranks' buffers.
struct SingleCopy {
  PeerMemory* memory = nullptr;
  std::byte* scratch = nullptr;  // this rank's own; the same size on all ranks
  std::size_t scratch_bytes = 0;
  bool* failed = nullptr;  // set when a transfer was refused: the result is then undefined
};

}  // namespace sumac

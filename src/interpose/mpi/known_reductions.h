// SPDX-License-Identifier: BSD-3-Clause
// Finds the kernel that reduces elements of a type by an operation from the two handles.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/mpi/handle_tables.h"
#include "interpose/mpi/handles.h"

namespace sumac {

struct KnownReduction {
  ReduceFn kernel = nullptr;
  Op op = Op::none;
  std::uint32_t reduces = 0;  // ChosenCall::reduces
  TypeInfo type;
  bool exact = false;  // result of is_exact()
};

// The map has the pairs of predefined handles that have been found before.
extern PairMap<KnownReduction, 8> known_reductions;
const KnownReduction* find_new_reduction(MpiDatatype type, MpiOp op, Reason& reason);

// Returns null if there is no kernel, and sets `reason`. The result is valid until the thread's
// next look-up. It is inline, and has one look-up for both handles, because a reduction of a few
// elements takes less time than two look-ups.
inline const KnownReduction* find_reduction(MpiDatatype type, MpiOp op, Reason& reason) {
  const KnownReduction* known = known_reductions.find(type.bits, op.bits);
  if (known) [[likely]]
    return known;
  return find_new_reduction(type, op, reason);
}

// Must be called at finalisation: handles mean nothing afterwards.
void forget_known_reductions();

}  // namespace sumac

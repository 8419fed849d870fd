// SPDX-License-Identifier: BSD-3-Clause
// The kernel that reduces elements of a type by an operation, found from the two handles.
#pragma once

#include "interpose/mpi/constants.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/pair_map.h"

namespace sumac {

struct KnownReduction {
  ReduceFn kernel = nullptr;
  Op op = Op::none;
  std::uint32_t reduces = 0;  // ChosenCall::reduces
  TypeInfo type;
  bool exact = false;  // is_exact()
};

// Pairs of predefined handles that have been found before.
extern PairMap<KnownReduction, 8> known_reductions;
const KnownReduction* find_new_reduction(MpiDatatype type, MpiOp op, Reason& reason);

// Returns null where there is no kernel, and sets `reason`. Valid until the thread's next look-up.
// Inline, and one look-up for both handles: a reduction of a few elements takes less time than two.
inline const KnownReduction* find_reduction(MpiDatatype type, MpiOp op, Reason& reason) {
  const KnownReduction* known = known_reductions.find(type.bits, op.bits);
  if (known) [[likely]]
    return known;
  return find_new_reduction(type, op, reason);
}

// To be called at finalisation: handles mean nothing afterwards.
void forget_known_reductions();

}  // namespace sumac

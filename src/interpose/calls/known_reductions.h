// SPDX-License-Identifier: BSD-3-Clause
// The kernel that reduces elements of a type by an operation, found from the two handles.
#pragma once

#include <mpi.h>

#include "interpose/mpi/handles.h"

namespace sumac {

struct KnownReduction {
  ReduceFn kernel = nullptr;
  Op op = Op::none;
  std::uint32_t reduces = 0;  // ChosenCall::reduces
  TypeInfo type;
  bool exact = false;  // is_exact()
};

// Returns null where there is no kernel, and sets `reason`. Valid until the thread's next look-up.
// A pair of predefined handles that was found once is found again by one look-up: a reduction of a
// few elements takes less time than two.
const KnownReduction* find_reduction(MPI_Datatype type, MPI_Op op, Reason& reason);

// To be called at finalisation: handles mean nothing afterwards.
void forget_known_reductions();

}  // namespace sumac

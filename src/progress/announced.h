// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other of a call (SUMAC_CHECK=calls): whatever must be equal on all of them.
#pragma once

#include <cstdint>
#include <string>

#include "base/types.h"
#include "levels/levels_operation.h"
#include "transport/shm/layout.h"

namespace sumac {

// ChosenCall::reduces: elements are of one class where the operation does the same with them, such
// as signed and unsigned integers of one size in a sum. Op::none: a function of the program's.
std::uint32_t reduces_by(Op op, DType element);

Announcement announcement_of(const ChosenCall& call);

// "MPI_Reduce to root 2, sum of double, 64 bytes"
std::string text_of(const Announcement& call);

}  // namespace sumac

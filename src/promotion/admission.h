// SPDX-License-Identifier: BSD-3-Clause
// Admission decides which parts of a range are to be moved, or why none may be.
#pragma once

#include "promotion/service.h"

namespace sumac::promotion {

inline constexpr int kMostPieces = 16;

struct Admission {
  Refusal refusal = Refusal::none;
  int count = 0;
  Range pieces[kMostPieces];  // those that are not promoted yet
};
// Examines every mapping in the range.
//
// The main thread's stack ([stack]) is refused, whatever the calling thread runs on, and so are the
// threads' stacks that the C library maps (properties.cc). In the child of a fork the copies are
// made by code that runs on a stack, which must not be replaced under it. A stack that a program
// made itself, in memory that another thread uses as a buffer, is not recognised; the child of a
// fork that runs on it ends with a message.
Admission admit(Service& service, const Range& range);

}  // namespace sumac::promotion

// SPDX-License-Identifier: BSD-3-Clause
// These functions stand before collectives that the MPI alone serves: they count the calls and pass
// them on. They are made from the SUMAC_COUNTED rows of calls.def.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

void redirect_counted(const sumac_stub& stub);

// From now on counted calls of this row go on to `function`, not to the MPI.
void serve_counted(int call, void* function);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rules/choice_table.h"

namespace sumac {

// Returns the MPI family whose behaviour the MPI has. An MPI of the standard's binary interface is
// asked what it is.
Family family();

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The MPI's functions by their rows in calls.def: those that a call in this program reaches, and
// the MPI's own.
#pragma once

#include <vector>

#include "interpose/calls/call.h"

namespace sumac::replay {

struct Functions {
  std::vector<void*> rows;  // null where there is none
  decltype(&PMPI_Start) start;
  decltype(&PMPI_Startall) startall;
  decltype(&PMPI_Waitall) waitall;
  decltype(&PMPI_Request_free) request_free;
};

// Sumac's where it is loaded and active, else the MPI's.
Functions as_called();
Functions of_the_mpi();

// The row of a function in a form, or -1.
int find_row(Function function, Form form, bool large);
const CallKind& kind_of(int row);
// Makes the call, which has the row's kind, by the row's function. Returns MPI's error.
int make(const Functions& functions, int row, const Call& call);

}  // namespace sumac::replay

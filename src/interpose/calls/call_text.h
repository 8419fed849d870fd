// SPDX-License-Identifier: BSD-3-Clause
// What a call is in words, for messages and for files that people and tools read.
#pragma once

#include <string>

#include "base/types.h"
#include "interpose/mpi/call.h"
#include "interpose/process/communicator.h"

namespace sumac {

// "blocking"
const char* name_of(Form form);
// As the program has called it: "MPI_Iallreduce_c".
std::string mpi_name(const CallKind& kind);

// The name that the program or the MPI gave it, or "a communicator".
std::string name_of_communicator(const Communicator& communicator);

// The element's name where it is known; else the type's own, or "derived" where it has none.
std::string name_of_type(DType element, MpiDatatype type);

}  // namespace sumac

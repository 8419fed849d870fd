// SPDX-License-Identifier: BSD-3-Clause
// This is a call in words, for messages and for files that people and tools read.
#pragma once

#include <string>

#include "base/types.h"
#include "interpose/mpi/call.h"
#include "interpose/process/communicator.h"

namespace sumac {

// Returns a form's name, such as "blocking".
const char* name_of(Form form);
// Returns the function as the program has called it, such as "MPI_Iallreduce_c".
std::string mpi_name(const CallKind& kind);

// Returns the name that the program or the MPI gave it, or "a communicator".
std::string name_of_communicator(const Communicator& communicator);

// Returns the element's name if it is known; otherwise the type's own, or "derived" if it has none.
std::string name_of_type(DType element, MpiDatatype type);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// This is a call in words and numbers, for messages, statistics, and files that people and tools
// read.
#pragma once

#include <cstdint>
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

// A call has this much data, as its arguments say.

struct CallSize {
  MpiDatatype type = kMpi.datatype_null;  // type of the elements, or one of several
  std::uint64_t count = 0;                // elements
  std::uint64_t bytes = 0;                // packed bytes
};

// Returns the size of so many elements of the type; none if the type is none, or the count
// negative.
CallSize size_of_data(MpiDatatype type, MpiCount count);

// Returns the size of the whole message as this rank sees it: for reductions, broadcasts and
// reduce-scatters, the vector; for all-gathers, the result; for all-to-alls, what this rank gets.
// `ranks` is the number of ranks of the communicator, 0 if it is an inter-communicator; calls with
// parts have no size there.
CallSize size_of(const Call& call, int ranks);

}  // namespace sumac

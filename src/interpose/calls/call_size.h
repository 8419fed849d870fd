// SPDX-License-Identifier: BSD-3-Clause
// A call has this much data, as its arguments say.
#pragma once

#include <cstdint>

#include "interpose/mpi/call.h"

namespace sumac {

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

// SPDX-License-Identifier: BSD-3-Clause
// How much data a call has, as its arguments say.
#pragma once

#include <cstdint>

#include "interpose/mpi/call.h"

namespace sumac {

struct CallSize {
  MpiDatatype type = kMpi.datatype_null;  // of the elements; of several types, one of them
  std::uint64_t count = 0;                // elements
  std::uint64_t bytes = 0;                // packed
};

// Of so many elements of the type; none where the type is none, or the count negative.
CallSize size_of_data(MpiDatatype type, MpiCount count);

// Of the whole message, as this rank sees it: of reductions, broadcasts and reduce-scatters, the
// vector; of all-gathers, the result; of all-to-alls, what this rank gets. `ranks`: those of the
// communicator, 0 where it is an inter-communicator; calls with parts have no size there.
CallSize size_of(const Call& call, int ranks);

}  // namespace sumac

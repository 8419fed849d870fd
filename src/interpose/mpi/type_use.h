// SPDX-License-Identifier: BSD-3-Clause
// This header finds the derived types that are used so much that it pays to read them. Reading a
// type costs more than packing an element of it once may gain.
#pragma once

#include "interpose/mpi/type_layout.h"

namespace sumac {

// Must be called when the MPI has packed or unpacked `bytes` packed bytes of a valid type. Once
// this adds up to 8 KiB of a type, find_packing() knows it.
void note_packed(MpiDatatype type, MpiComm comm, std::size_t bytes);

// Does the same as find_packing(), for a type of which `bytes` bytes are to be packed now. If it
// returns null, it notes these bytes.
const DataLayout* use_packing(MpiDatatype type, MpiComm comm, std::size_t bytes, MpiAint& extent);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// Which derived types are used so much that it pays to read them. Reading a type costs more than
// packing an element of it once may gain.
#pragma once

#include "interpose/mpi/type_layout.h"

namespace sumac {

// To be called when the MPI has packed or unpacked `bytes` packed bytes of a valid type. Once they
// are 8 KiB of a type, find_packing() knows it.
void note_packed(MpiDatatype type, MpiComm comm, std::size_t bytes);

// The same as find_packing(), for a type of which `bytes` bytes are to be packed now: where it
// returns null, these are noted.
const DataLayout* use_packing(MpiDatatype type, MpiComm comm, std::size_t bytes, MpiAint& extent);

}  // namespace sumac

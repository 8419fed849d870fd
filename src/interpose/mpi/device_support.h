// SPDX-License-Identifier: BSD-3-Clause
// The MPI itself may take buffers in a GPU's memory.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

void find_device_support(const sumac_stub& stub);

// Returns what the MPI says of itself; false for an MPI that says nothing.
bool mpi_takes_devices();

}  // namespace sumac

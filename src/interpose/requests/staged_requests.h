// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collectives that are left to the MPI, and whose buffers are in a GPU's
// memory: the MPI sees the host memory in its place. Their requests are the MPI's own.
#pragma once

#include <memory>

#include "interpose/calls/device_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// Keeps the data until the request has ended; of a persistent operation, until it is freed.
void keep_staged(MpiRequest request, std::shared_ptr<DeviceData> data, bool persistent);
void forget_staged(MpiRequest request);

// Must be called, if at all, before the stub is given functions: only then can results be copied
// when requests have ended, and requests be kept.
void keep_staged_requests();
bool staged_requests_are_kept();

}  // namespace sumac

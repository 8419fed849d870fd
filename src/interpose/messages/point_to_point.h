// SPDX-License-Identifier: BSD-3-Clause
// Sumac may pack the messages of point-to-point calls (packed_message.h). Their requests are the
// MPI's own.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

void redirect_messages(const sumac_stub& stub);

}  // namespace sumac

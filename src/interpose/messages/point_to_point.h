// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point calls whose messages Sumac may pack (packed_message.h). Their requests are the
// MPI's own.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

void redirect_messages(const sumac_stub& stub);

}  // namespace sumac

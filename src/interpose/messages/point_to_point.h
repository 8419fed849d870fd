// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point calls whose messages Sumac may pack (packed_message.h), and the completion of
// their requests, which are the MPI's own.
#pragma once

#include "interpose/stub/stub.h"

namespace sumac {

// Puts the functions of both before the MPI's, and before those of redirect_completion(), where
// SUMAC_PACK_MESSAGES asks for it. Else a program's messages do not pass through the back end.
void redirect_messages(const sumac_stub& stub);
void redirect_message_completion(const sumac_stub& stub);

// At finalisation: waits for messages whose requests the program has freed.
void end_messages();

}  // namespace sumac

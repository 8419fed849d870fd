// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point calls whose messages Sumac may pack (packed_message.h), and the completion of
// their requests, which are the MPI's own.
#pragma once

#include "interpose/requests/completion.h"
#include "interpose/stub/stub.h"

namespace sumac {

// Whether SUMAC_PACK_MESSAGES asks for them, and nobody profiles. Else a program's messages do not
// pass through the back end.
bool messages_are_packed();

void redirect_messages(const sumac_stub& stub);

// The calls about requests, before `calls`.
RequestCalls message_request_calls(const RequestCalls& calls);

}  // namespace sumac

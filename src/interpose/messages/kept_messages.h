// SPDX-License-Identifier: BSD-3-Clause
// These packed messages and exchanges are under way. Their requests are the MPI's own.
#pragma once

#include <memory>

#include "interpose/messages/packed_data.h"
#include "interpose/mpi/handle_types.h"

namespace sumac {

// Keeps a message for as long as its request is under way.
void keep_message(MpiRequest request, std::unique_ptr<Delivery> message, bool receives);
// Does the same, unless the message has ended already: then it needs no memory any more, and its
// request may be one that the MPI gives to all such calls.
void keep_unless_ended(MpiRequest request, std::unique_ptr<Delivery> message, bool receives);

// Returns true while none is kept: no request has to be looked up then.
bool no_message_kept();
bool is_any_kept(int count, RequestPointer requests);

// The request, which may be another message's by now, has ended with this status. Puts what it
// received where the program wants it, unless it ended with an error.
void end_message(MpiRequest request, StatusPointer status, bool success);
// Does the same for a request that has ended, of which the MPI will be asked again.
void deliver_message(MpiRequest request, StatusPointer status);

// The program has freed the request of a message: it belongs to the table from now on.
void adopt_request(MpiRequest request);
// Looks which of these have ended.
void look_at_adopted();
// Must be called at finalisation: waits for them.
void wait_for_adopted();

}  // namespace sumac

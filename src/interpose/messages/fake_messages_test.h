// SPDX-License-Identifier: BSD-3-Clause
// Tests of packed messages have this in the place of an MPI's messages, between ranks that are all
// in this process. A test says which rank calls.
#pragma once

namespace sumac {

struct MessageCounts {
  int own_rank = 0;                          // the rank that calls
  int fails_in = 0;                          // so many calls from now one fails; 0: none
  int packed_sent = 0, packed_received = 0;  // calls that gave the MPI packed bytes
};
inline MessageCounts fake_messages;

// Forgets all messages, and puts the functions into the table. All that is drawn follows from the
// seed: which messages are read only when they are received, and when requests end.
void begin_messages(unsigned seed);
// Returns true if nothing is left that was sent, or is still to be received.
bool all_have_arrived();

}  // namespace sumac

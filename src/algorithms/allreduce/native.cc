// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own all-reduce among the ranks of a group, nonblocking, so that other levels go on.
//   Wins     where the MPI has hardware for it, such as switches that reduce
//   Needs    messages that know a communicator of the group; one strand, for order counts
#include "algorithms/message_fold.h"

namespace sumac::allreduce {

Task native(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  group.messages->native_allreduce(*group.stream, args);
  co_await strand.until(group.stream->all_received());
}

Traffic native_cost(const GroupCall&) { return {}; }  // not known

}  // namespace sumac::allreduce

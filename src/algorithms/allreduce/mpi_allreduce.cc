// SPDX-License-Identifier: BSD-3-Clause
// The MPI's own all-reduce among the ranks of a group, nonblocking, so that other levels go on.
//   Wins     where the MPI has hardware for it, such as switches that reduce
//   Needs    messages that know a communicator of the group; one strand, for order counts
#include "algorithms/message_fold.h"

namespace sumac::allreduce {

Task mpi_allreduce(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  args.by_mpi->start(*group.messages, *group.stream, args.input, args.output, args.count);
  co_await strand.until(group.stream->all_received());
}

Traffic mpi_allreduce_cost(const GroupCall&) { return {}; }  // not known

}  // namespace sumac::allreduce

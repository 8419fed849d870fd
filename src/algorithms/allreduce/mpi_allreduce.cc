// SPDX-License-Identifier: BSD-3-Clause
// All-reduce by the MPI's own among the ranks of a group. It is nonblocking, so that other levels
// go on.
//   Wins     where the MPI has hardware for it, such as switches that reduce
//   Needs    messages that know a communicator of the group; a single strand, since the MPI wants
//            the same order of calls on all ranks
#include "algorithms/message_fold.h"

namespace sumac::allreduce {

Task mpi_allreduce(Strand& strand, MessageGroup& group, const ReduceArguments& args) {
  args.by_mpi->start(*group.messages, *group.stream, args.input, args.output, args.count);
  co_await strand.until(group.stream->all_received());
}

Traffic mpi_allreduce_cost(const GroupCall&) { return {}; }  // not known

}  // namespace sumac::allreduce

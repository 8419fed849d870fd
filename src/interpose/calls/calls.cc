// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/calls.h"

#include "interpose/mpi/mpi_functions.h"
#include "observe/trace.h"
#include "progress/announced.h"
#include "tasks/threads.h"

namespace sumac {
namespace {

// Runs the call behind nonblocking calls on the same communicator that have not ended.
void run_in_queue(Communicator& c, const ChosenCall& call, const DirectTry& direct) {
  c.queue.add(c.work, call, direct, c.ranks(call.collective), false);
  c.queue.wait_for(c.work, c.wait_policy);
}

}  // namespace

void run(Communicator& c, const ChosenCall& call, const DirectTry& direct) {
  const trace::OperationScope traced(name_of(call.collective), call.bytes(), c.trace_group,
                                     c.traced);
  c.doing = name_of(call.collective);
  const UseThreads threads(true);
  if (c.queue.empty()) [[likely]] {
    c.work.run(call, direct, c.ranks(call.collective), c.wait_policy);
  } else {
    run_in_queue(c, call, direct);
  }
  // Ranks run the call in different ways, but all know the same of its refusals.
  if (c.work.refusals_agreed()) [[unlikely]]
    c.refusals.agreed = true;
}

bool agree(Communicator& c, bool own) {
  const std::int32_t mine = own;
  std::int32_t all = 0;
  const ReduceArguments args{reinterpret_cast<const std::byte*>(&mine),
                             reinterpret_cast<std::byte*>(&all), 1, sizeof mine,
                             find_reduce(Op::band, DType::i32)};
  // It takes the default choice, since the rules may leave a call to the MPI.
  Choice choice;
  choice.algorithm = c.levels_for[static_cast<int>(Collective::allreduce)]
                         ? Algorithm::allreduce_levels
                         : Algorithm::allreduce_flat_slots;
  run(c, {args, Collective::allreduce, choice, reduces_by(Op::band, DType::i32)});
  return all;
}

}  // namespace sumac

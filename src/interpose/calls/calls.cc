// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/calls/calls.h"

#include "interpose/mpi/mpi_functions.h"
#include "observe/log.h"
#include "observe/trace.h"
#include "progress/announced.h"
#include "tasks/threads.h"
#include "team/hang_doctor.h"
#include "team/lost_rank.h"

namespace sumac {
namespace {

// Runs behind nonblocking calls on the same communicator that have not ended.
void run_in_queue(Communicator& c) {
  c.queue.add(c.work, c.ranks(c.work.call.collective), false);
  c.queue.wait_for(c.work, c.wait_policy);
}

}  // namespace

void give_up(const Communicator& c) {
  const int lost = find_lost_soon(c);
  if (lost >= 0) return end_for_lost_rank(c, lost);
  // A slot may hold an address that another call has left there.
  for (int r = 0; r < c.size && c.levels.empty(); ++r) {
    std::uint64_t number = 0;
    if (r != c.rank && c.group.differs(r, number)) return end_for_different_calls(c, r, number);
  }
  log_here(
      "error[peer-memory]: rank %d could not reach a peer's memory in %s; ending the job "
      "(SUMAC_CMA=off does without; or other ranks called something else)",
      c.rank, c.doing);
  end_job(c.comm);
}

void run(Communicator& c) {
  const ChosenCall& call = c.work.call;
  const trace::Operation traced(name_of(call.collective), call.bytes(), c.trace_group, c.traced);
  c.doing = name_of(call.collective);
  const UseThreads threads(true);
  if (c.queue.empty()) [[likely]] {
    c.work.run(c.ranks(call.collective), c.wait_policy);
  } else {
    run_in_queue(c);
  }
  if (c.work.failed()) give_up(c);
}

bool agree(Communicator& c, bool own) {
  const std::int32_t mine = own;
  std::int32_t all = 0;
  const TypedAllreduce by_mpi(MPI_INT32_T, MPI_BAND);
  ChosenCall& call = c.work.call;
  call.collective = Collective::allreduce;
  call.reduces = reduces_by(Op::band, DType::i32);
  call.reduction = {reinterpret_cast<const std::byte*>(&mine),
                    reinterpret_cast<std::byte*>(&all),
                    1,
                    sizeof mine,
                    find_reduce(Op::band, DType::i32),
                    0,
                    &by_mpi};
  // The default choice, since the rules may leave a call to the MPI.
  call.choice = Choice();
  call.choice.algorithm = c.levels_for[static_cast<int>(Collective::allreduce)]
                              ? Algorithm::allreduce_levels
                              : Algorithm::allreduce_flat_slots;
  run(c);
  return all;
}

}  // namespace sumac

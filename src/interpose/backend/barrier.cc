// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier.
#include "algorithms/algorithms.h"
#include "interpose/backend/calls.h"
#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

// Nobody's result is there before everybody's part is.
void run_over_levels(Communicator& c, const Choice& choice) {
  const std::int32_t own = 0;
  std::int32_t all;
  c.reduce_args = {reinterpret_cast<const std::byte*>(&own),
                   reinterpret_cast<std::byte*>(&all),
                   1,
                   sizeof own,
                   find_reduce(Op::bor, DType::i32),
                   0};
  run_reduction(c, Collective::barrier, choice, MPI_INT32_T, MPI_BOR);
}

int mpi_barrier(MPI_Comm comm) {
  Entry entry(Collective::barrier);
  const Admission admission = admit(entry, comm);
  const auto native = [&] { return mpi.Barrier(comm); };
  if (!admission.communicator) return pass(admission, comm, native);
  Communicator& c = *admission.communicator;
  if (c.state == Communicator::State::alone) {
    entry.take_locally(c.stats, 0);
    return MPI_SUCCESS;
  }
  const Choice& choice = c.choose(Collective::barrier, 0);
  if (choice.algorithm == Algorithm::native) {
    entry.hand_down(c.stats, Reason::rules, 0);
    return native();
  }
  c.doing = "barrier";
  if (choice.algorithm == Algorithm::barrier_levels) {
    run_over_levels(c, choice);
  } else {
    c.strand.run(barrier::flat(c.strand, c.group), c.wait_policy);
  }
  entry.take(c.stats, choice.algorithm, 0);
  return MPI_SUCCESS;
}

}  // namespace

void redirect_barrier(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Barrier, reinterpret_cast<void*>(mpi_barrier));
}

}  // namespace sumac

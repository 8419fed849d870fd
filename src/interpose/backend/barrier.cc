// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier.
#include "interpose/backend/calls.h"
#include "interpose/backend/mpi_functions.h"

namespace sumac {
namespace {

int mpi_barrier(MPI_Comm comm) {
  Entry entry(Collective::barrier);
  const Admission admission = admit(entry, comm);
  const auto native = [&] { return mpi.Barrier(comm); };
  if (!admission.communicator) return pass(admission, comm, native, true);
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
  c.native = {MPI_INT32_T, MPI_BOR};
  c.work.set_barrier(choice, &c.native);
  run(c);
  entry.take(c.stats, choice.algorithm, 0);
  return MPI_SUCCESS;
}

}  // namespace

void redirect_barrier(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Barrier, entry_of<Collective::barrier, mpi_barrier>());
}

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The constants that calls need in a simulation. SMPI's handles are pointers that belong to a
// simulated process, so that none of them may be read when the program is loaded: the handles that
// a call does not have are zero here.
#include "interpose/mpi/constants.h"

#include <mpi.h>

namespace sumac {
namespace {

constexpr MpiConstants of_smpi() {
  MpiConstants made{};
  made.handle_bytes = sizeof(MPI_Comm);
  made.status_bytes = sizeof(MPI_Status);
  return made;
}

}  // namespace

constinit const MpiConstants kMpi = of_smpi();

}  // namespace sumac

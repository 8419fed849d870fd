// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce and MPI_Allreduce_c.
#include "interpose/backend/reduction.h"

namespace sumac {
namespace {

int mpi_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  return serve_reduction(Collective::allreduce, {sendbuf, recvbuf, count, type, op, kNoRoot, comm},
                         [&] { return mpi.Allreduce(sendbuf, recvbuf, count, type, op, comm); });
}

int mpi_allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm) {
  return serve_reduction(
      Collective::allreduce, {sendbuf, recvbuf, count, type, op, kNoRoot, comm}, [&] {
        if (mpi.Allreduce_c) return mpi.Allreduce_c(sendbuf, recvbuf, count, type, op, comm);
        return reduce_in_parts(sendbuf, recvbuf, count, type,
                               [&](const void* from, void* to, int part) {
                                 return mpi.Allreduce(from, to, part, type, op, comm);
                               });
      });
}

}  // namespace

void redirect_allreduce(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Allreduce, entry_of<Collective::allreduce, mpi_allreduce>());
  stub.redirect(SUMAC_CALL_Allreduce_c, entry_of<Collective::allreduce, mpi_allreduce_c>());
}

}  // namespace sumac

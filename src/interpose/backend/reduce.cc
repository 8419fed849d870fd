// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce and MPI_Reduce_c.
#include <climits>

#include "interpose/backend/reduction.h"

namespace sumac {
namespace {

int mpi_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
               int root, MPI_Comm comm) {
  // A negative root (MPI_ROOT, MPI_PROC_NULL, or an error) is no kNoRoot.
  const int judged = root < 0 ? INT_MAX : root;
  return serve_reduction(Collective::reduce, {sendbuf, recvbuf, count, type, op, judged, comm},
                         [&] { return mpi.Reduce(sendbuf, recvbuf, count, type, op, root, comm); });
}

int mpi_reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 int root, MPI_Comm comm) {
  const int judged = root < 0 ? INT_MAX : root;
  return serve_reduction(
      Collective::reduce, {sendbuf, recvbuf, count, type, op, judged, comm}, [&] {
        if (mpi.Reduce_c) return mpi.Reduce_c(sendbuf, recvbuf, count, type, op, root, comm);
        return reduce_in_parts(sendbuf, recvbuf, count, type,
                               [&](const void* from, void* to, int part) {
                                 return mpi.Reduce(from, to, part, type, op, root, comm);
                               });
      });
}

}  // namespace

void redirect_reduce(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Reduce, entry_of<Collective::reduce, mpi_reduce>());
  stub.redirect(SUMAC_CALL_Reduce_c, entry_of<Collective::reduce, mpi_reduce_c>());
}

}  // namespace sumac

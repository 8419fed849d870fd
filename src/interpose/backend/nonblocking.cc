// SPDX-License-Identifier: BSD-3-Clause
// MPI_Iallreduce, MPI_Ireduce, MPI_Ibcast, MPI_Ibarrier and their large-count forms. They never set
// a communicator up, for that waits for other ranks: until a blocking or persistent call has done
// so they are the MPI's.
#include <climits>

#include "interpose/backend/deferred.h"
#include "interpose/backend/handles.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/timed.h"

namespace sumac {
namespace {

// Begins what has been described; `describe_it(request)` does so.
template <class Describe>
int begin_new(const Plan& plan, MPI_Request* handle, Describe describe_it) {
  CollectiveRequest& request = acquire_nonblocking(*plan.communicator);
  describe_it(request);
  start(request);
  *handle = request.handle;
  return MPI_SUCCESS;
}

template <class Native>
int serve(Collective collective, const Reduction& call, MPI_Request* handle, Native native) {
  Entry entry(collective);
  const Plan plan = plan_reduction(entry, call);
  if (!plan.communicator || !handle) return native();
  return begin_new(plan, handle,
                   [&](CollectiveRequest& request) { describe(request, plan, call); });
}

int iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, MPI_Request* request) {
  return serve(Collective::allreduce, {sendbuf, recvbuf, count, type, op, kNoRoot, comm}, request,
               [&] { return mpi.Iallreduce(sendbuf, recvbuf, count, type, op, comm, request); });
}

int ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm, MPI_Request* request) {
  const int judged = root < 0 ? INT_MAX : root;
  return serve(Collective::reduce, {sendbuf, recvbuf, count, type, op, judged, comm}, request,
               [&] { return mpi.Ireduce(sendbuf, recvbuf, count, type, op, root, comm, request); });
}

template <class Native>
int serve_bcast(const TypedBuffer& buffer, int root, MPI_Request* handle, Native native) {
  Entry entry(Collective::bcast);
  int error = MPI_SUCCESS;
  const Plan plan = plan_bcast(entry, buffer, root, error);
  if (error != MPI_SUCCESS) return error;
  if (!plan.communicator || !handle) return native();
  return begin_new(plan, handle,
                   [&](CollectiveRequest& request) { describe(request, plan, buffer); });
}

int ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
           MPI_Request* request) {
  return serve_bcast({buffer, count, type, comm}, root, request,
                     [&] { return mpi.Ibcast(buffer, count, type, root, comm, request); });
}

int ibarrier(MPI_Comm comm, MPI_Request* handle) {
  Entry entry(Collective::barrier);
  const Plan plan = plan_barrier(entry, comm);
  if (!plan.communicator || !handle) return mpi.Ibarrier(comm, handle);
  return begin_new(plan, handle, [&](CollectiveRequest& request) { describe(request, plan); });
}

// What only an MPI with large counts can do without Sumac: more elements than an int can say.
int too_large(MPI_Comm comm) {
  mpi.Comm_call_errhandler(comm, MPI_ERR_COUNT);
  return MPI_ERR_COUNT;
}

int iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, MPI_Request* request) {
  return serve(
      Collective::allreduce, {sendbuf, recvbuf, count, type, op, kNoRoot, comm}, request, [&] {
        if (mpi.Iallreduce_c) {
          return mpi.Iallreduce_c(sendbuf, recvbuf, count, type, op, comm, request);
        }
        if (count > INT_MAX) return too_large(comm);
        return mpi.Iallreduce(sendbuf, recvbuf, static_cast<int>(count), type, op, comm, request);
      });
}

int ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
              int root, MPI_Comm comm, MPI_Request* request) {
  const int judged = root < 0 ? INT_MAX : root;
  return serve(Collective::reduce, {sendbuf, recvbuf, count, type, op, judged, comm}, request, [&] {
    if (mpi.Ireduce_c) {
      return mpi.Ireduce_c(sendbuf, recvbuf, count, type, op, root, comm, request);
    }
    if (count > INT_MAX) return too_large(comm);
    return mpi.Ireduce(sendbuf, recvbuf, static_cast<int>(count), type, op, root, comm, request);
  });
}

int ibcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
             MPI_Request* request) {
  return serve_bcast({buffer, count, type, comm}, root, request, [&] {
    if (mpi.Ibcast_c) return mpi.Ibcast_c(buffer, count, type, root, comm, request);
    if (count > INT_MAX) return too_large(comm);
    return mpi.Ibcast(buffer, static_cast<int>(count), type, root, comm, request);
  });
}

}  // namespace

void redirect_nonblocking(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Iallreduce, entry_of<Collective::allreduce, iallreduce>());
  stub.redirect(SUMAC_CALL_Ireduce, entry_of<Collective::reduce, ireduce>());
  stub.redirect(SUMAC_CALL_Ibcast, entry_of<Collective::bcast, ibcast>());
  stub.redirect(SUMAC_CALL_Ibarrier, entry_of<Collective::barrier, ibarrier>());
  stub.redirect(SUMAC_CALL_Iallreduce_c, entry_of<Collective::allreduce, iallreduce_c>());
  stub.redirect(SUMAC_CALL_Ireduce_c, entry_of<Collective::reduce, ireduce_c>());
  stub.redirect(SUMAC_CALL_Ibcast_c, entry_of<Collective::bcast, ibcast_c>());
}

}  // namespace sumac

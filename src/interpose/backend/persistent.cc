// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce_init, MPI_Reduce_init, MPI_Bcast_init, MPI_Barrier_init, their large-count forms,
// MPI_Start and MPI_Startall. Everything is decided at initialisation, which may wait for other
// ranks: so the first one on a communicator sets it up.
#include <climits>
#include <optional>

#include "interpose/backend/deferred.h"
#include "interpose/backend/handles.h"
#include "interpose/backend/mpi_functions.h"
#include "team/own_ranks.h"

namespace sumac {
namespace {

// The MPI's own request first, where Sumac does not serve the communicator yet: what it takes
// without an error, all ranks have called.
template <class MakePlan, class Describe, class Native>
int serve(Entry& entry, MPI_Comm comm, MPI_Request* handle, MakePlan make_plan,
          Describe describe_it, Native native) {
  Plan plan = make_plan();
  if (plan.counts) {
    const int error = native();
    if (error != MPI_SUCCESS) return error;
    // As good as two: it will be used many times.
    count_call(comm, kAgreeAfter, false);
    Communicator* c = find_communicator(comm);
    if (!c || c->state < Communicator::State::alone) return MPI_SUCCESS;
    plan = make_plan();
    if (!plan.communicator) return MPI_SUCCESS;
    mpi.Request_free(handle);
  }
  if (!plan.communicator || !handle) return native();
  OwnRanks* ranks = nullptr;
  if (!plan.local) {
    ranks = acquire_own_ranks(*plan.communicator, entry.collective(), plan.choice);
    if (!ranks) {
      entry.hand_down(plan.communicator->stats, Reason::no_room, plan.bytes);
      return native();
    }
  }
  CollectiveRequest* request = acquire_persistent(*plan.communicator, ranks);
  if (!request) {
    // Other ranks may have theirs.
    mpi.Comm_call_errhandler(comm, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
  }
  describe_it(*request, plan);
  thread_state().last_path = plan.local ? kLocal : info_of(plan.choice.algorithm).name;
  *handle = request->handle;
  return MPI_SUCCESS;
}

// Calls the MPI's function, which may be missing, or stand for a form with int counts only.
template <class Function, class... Arguments>
int call(Function function, Arguments... arguments) {
  return function ? function(arguments...) : MPI_ERR_OTHER;
}

template <class Native>
int serve_reduction(Collective collective, const Reduction& reduction, MPI_Request* handle,
                    Native native) {
  Entry entry(collective);
  return serve(
      entry, reduction.comm, handle, [&] { return plan_reduction(entry, reduction); },
      [&](CollectiveRequest& request, const Plan& plan) { describe(request, plan, reduction); },
      native);
}

int allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return serve_reduction(
      Collective::allreduce, {sendbuf, recvbuf, count, type, op, kNoRoot, comm}, request, [&] {
        return call(mpi.Allreduce_init, sendbuf, recvbuf, count, type, op, comm, info, request);
      });
}

int allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return serve_reduction(
      Collective::allreduce, {sendbuf, recvbuf, count, type, op, kNoRoot, comm}, request, [&] {
        if (mpi.Allreduce_init_c || count > INT_MAX) {
          return call(mpi.Allreduce_init_c, sendbuf, recvbuf, count, type, op, comm, info, request);
        }
        return call(mpi.Allreduce_init, sendbuf, recvbuf, static_cast<int>(count), type, op, comm,
                    info, request);
      });
}

int reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const int judged = root < 0 ? INT_MAX : root;
  return serve_reduction(
      Collective::reduce, {sendbuf, recvbuf, count, type, op, judged, comm}, request, [&] {
        return call(mpi.Reduce_init, sendbuf, recvbuf, count, type, op, root, comm, info, request);
      });
}

int reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const int judged = root < 0 ? INT_MAX : root;
  return serve_reduction(Collective::reduce, {sendbuf, recvbuf, count, type, op, judged, comm},
                         request, [&] {
                           if (mpi.Reduce_init_c || count > INT_MAX) {
                             return call(mpi.Reduce_init_c, sendbuf, recvbuf, count, type, op, root,
                                         comm, info, request);
                           }
                           return call(mpi.Reduce_init, sendbuf, recvbuf, static_cast<int>(count),
                                       type, op, root, comm, info, request);
                         });
}

template <class Native>
int serve_bcast(const TypedBuffer& buffer, int root, MPI_Request* handle, Native native) {
  Entry entry(Collective::bcast);
  int error = MPI_SUCCESS;
  const int served = serve(
      entry, buffer.comm, handle, [&] { return plan_bcast(entry, buffer, root, error); },
      [&](CollectiveRequest& request, const Plan& plan) { describe(request, plan, buffer); },
      [&] { return error == MPI_SUCCESS ? native() : error; });
  return served;
}

int bcast_init(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
               MPI_Request* request) {
  return serve_bcast({buffer, count, type, comm}, root, request, [&] {
    return call(mpi.Bcast_init, buffer, count, type, root, comm, info, request);
  });
}

int bcast_init_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                 MPI_Info info, MPI_Request* request) {
  return serve_bcast({buffer, count, type, comm}, root, request, [&] {
    if (mpi.Bcast_init_c || count > INT_MAX) {
      return call(mpi.Bcast_init_c, buffer, count, type, root, comm, info, request);
    }
    return call(mpi.Bcast_init, buffer, static_cast<int>(count), type, root, comm, info, request);
  });
}

int barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* handle) {
  Entry entry(Collective::barrier);
  return serve(
      entry, comm, handle, [&] { return plan_barrier(entry, comm); },
      [](CollectiveRequest& request, const Plan& plan) { describe(request, plan); },
      [&] { return call(mpi.Barrier_init, comm, info, handle); });
}

int start_one(MPI_Request* handle) {
  CollectiveRequest* own = any_requests() && handle ? find_request(*handle) : nullptr;
  if (!own) return mpi.Start(handle);
  if (!own->persistent || is_active(*own)) return refuse(*own, MPI_ERR_REQUEST);
  std::optional<TimedCall> timed;
  if (calls_are_timed()) timed.emplace(own->call.collective);
  start(*own);
  return MPI_SUCCESS;
}

int startall(int count, MPI_Request* handles) {
  if (!any_requests() || !handles) return mpi.Startall(count, handles);
  for (int i = 0; i < count; ++i) {
    if (const int error = start_one(&handles[i])) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

void redirect_persistent(const sumac_stub& stub) {
  stub.redirect(SUMAC_CALL_Allreduce_init, reinterpret_cast<void*>(allreduce_init));
  stub.redirect(SUMAC_CALL_Reduce_init, reinterpret_cast<void*>(reduce_init));
  stub.redirect(SUMAC_CALL_Bcast_init, reinterpret_cast<void*>(bcast_init));
  stub.redirect(SUMAC_CALL_Barrier_init, reinterpret_cast<void*>(barrier_init));
  stub.redirect(SUMAC_CALL_Allreduce_init_c, reinterpret_cast<void*>(allreduce_init_c));
  stub.redirect(SUMAC_CALL_Reduce_init_c, reinterpret_cast<void*>(reduce_init_c));
  stub.redirect(SUMAC_CALL_Bcast_init_c, reinterpret_cast<void*>(bcast_init_c));
  stub.redirect(SUMAC_CALL_Start, reinterpret_cast<void*>(start_one));
  stub.redirect(SUMAC_CALL_Startall, reinterpret_cast<void*>(startall));
}

}  // namespace sumac

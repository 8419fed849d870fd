// SPDX-License-Identifier: BSD-3-Clause
// What MPI_Allreduce and MPI_Reduce share, in their int and large-count forms.
#pragma once

#include <algorithm>

#include "interpose/backend/calls.h"
#include "interpose/backend/handles.h"
#include "interpose/backend/mpi_functions.h"
#include "interpose/backend/staging.h"

namespace sumac {

inline constexpr int kNoRoot = -1;

struct Reduction {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  int root;  // kNoRoot: all ranks get the result
  MPI_Comm comm;
};

// Fills what of `args` does not depend on how elements are folded; false for what the MPI should
// judge.
bool judge_arguments(const Reduction& call, const Communicator& communicator,
                     ReduceArguments& args);

// Fills `args`, and tells the type; or null, and the reason why the MPI should do it.
const TypeInfo* judge_reduction(const Reduction& call, const Communicator& communicator,
                                ReduceArguments& args, Reason& reason);

// Runs what the communicator's work describes, a reduction of elements of the type.
void run_reduction(Communicator& communicator, const TypeInfo& type);

// Whether what has no kernel, for the reason given, is reduced by a function of the program's.
inline bool is_users(MPI_Op op, Reason reason) {
  return reason != Reason::arguments && op != MPI_OP_NULL && !find_op(op);
}

// Serves a reduction by the program's function, or tells why the MPI should. `error` is what the
// call returns then.
bool serve_user_reduction(Entry& entry, const Reduction& call, Communicator& communicator,
                          Reason& reason, int& error);

// inout[i] = in[i] op inout[i], by several threads where they may be used and are worth it.
void reduce_in_place(ReduceFn kernel, const void* in, void* inout, std::size_t count,
                     std::size_t extent, bool may_use_threads);

// No communication: one rank, or no data.
inline bool is_local(const Communicator& c, std::size_t bytes) {
  return c.state == Communicator::State::alone || bytes == 0;
}

// As serve_reduction. A C++ exception of the program's function is put into `thrown`.
template <class Native>
int serve_entered(Entry& entry, const Reduction& call, Native native, PendingException*& thrown) {
  const Collective collective = entry.collective();
  const Admission admission = admit(entry, call.comm);
  if (!admission.communicator) {
    const bool all_entered = collective == Collective::allreduce && call.count > 0;
    return pass(admission, call.comm, native, all_entered);
  }
  Communicator& c = *admission.communicator;
  ReduceArguments& args = c.work.call.reduction;
  Reason reason = Reason::arguments;
  const TypeInfo* type = judge_reduction(call, c, args, reason);
  if (!type) {
    int error = MPI_SUCCESS;
    if (is_users(call.op, reason) && serve_user_reduction(entry, call, c, reason, error)) {
      if (c.fold.exception()) thrown = &c.fold.exception();
      return error;
    }
    entry.hand_down(c.stats, reason, 0);
    return native();
  }
  if (is_local(c, args.bytes())) {
    if (args.bytes() > 0 && args.input != args.output) {
      copy_elements(*type, args.output, args.input, args.count);
    }
    entry.take_locally(c.stats, args.bytes());
    return MPI_SUCCESS;
  }
  const Choice& choice = c.choose(collective, args.bytes());
  if (choice.algorithm == Algorithm::native) {
    entry.hand_down(c.stats, Reason::rules, args.bytes());
    return native();
  }
  c.work.call.collective = collective;
  c.work.call.choice = choice;
  c.native = {call.type, call.op};
  args.native = &c.native;
  run_reduction(c, *type);
  entry.take(c.stats, choice.algorithm, args.bytes());
  return MPI_SUCCESS;
}

// Serves the call, or calls `native()`.
template <class Native>
int serve_reduction(Collective collective, const Reduction& call, Native native) {
  PendingException* thrown = nullptr;
  const auto serve = [&] {
    Entry entry(collective);
    return serve_entered(entry, call, native, thrown);
  };
  const int error = serve();
  if (thrown) [[unlikely]]
    thrown->leave();
  return error;
}

// A reduction goes element by element: any split of the count gives the same result. For an MPI
// without large counts; part(sendbuf, recvbuf, count) reduces at most 2^30 elements.
template <class Part>
int reduce_in_parts(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                    Part part) {
  constexpr MPI_Count kMost = 1 << 30;
  MPI_Aint lower = 0, extent = 0;
  if (count > kMost) {
    if (const int error = mpi.Type_get_extent(type, &lower, &extent)) return error;
  }
  do {
    const int now = static_cast<int>(std::min(count, kMost));
    if (const int error = part(sendbuf, recvbuf, now)) return error;
    if (sendbuf && sendbuf != MPI_IN_PLACE) {
      sendbuf = static_cast<const char*>(sendbuf) + now * extent;
    }
    if (recvbuf && recvbuf != MPI_IN_PLACE) recvbuf = static_cast<char*>(recvbuf) + now * extent;
    count -= now;
  } while (count > 0);
  return MPI_SUCCESS;
}

}  // namespace sumac

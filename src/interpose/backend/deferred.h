// SPDX-License-Identifier: BSD-3-Clause
// What nonblocking and persistent calls share: judging the arguments, and describing what is to be
// done when the call is not there to wait.
#pragma once

#include "interpose/backend/reduction.h"
#include "interpose/backend/requests.h"

namespace sumac {

// What a call comes to: who serves it, and how.
struct Plan {
  Communicator* communicator = nullptr;  // null: the MPI must do it
  bool counts = false;                   // a call after which the communicator may be set up
  bool local = false;                    // nobody to wait for
  TypeInfo type;                         // of a reduction
  Choice choice;
  LevelsCall call;
  std::size_t bytes = 0;
};

Plan plan_reduction(Entry& entry, const Reduction& call);
// `error` is not MPI_SUCCESS where the error handler has been told of a wrong type.
Plan plan_bcast(Entry& entry, const TypedBuffer& buffer, int root, int& error);
Plan plan_barrier(Entry& entry, MPI_Comm comm);

// Makes it the request's work.
void describe(CollectiveRequest& request, const Plan& plan);
void describe(CollectiveRequest& request, const Plan& plan, const Reduction& call);
void describe(CollectiveRequest& request, const Plan& plan, const TypedBuffer& buffer);

// Begins it with the data as they are now.
void start(CollectiveRequest& request);

}  // namespace sumac

// SPDX-License-Identifier: BSD-3-Clause
// The MPI functions that each of the two contenders calls.
#pragma once

#include <mpi.h>

#include "interpose/family/native.h"

namespace sumac::bench {

// A row of interpose/calls.def whose counts are ints.
struct CollectiveRow {
  CallKind kind;
  const char* name;  // "Allreduce_init"
  // Calls the MPI's function, which is at this address.
  int (*make)(void* function, const Call& call);
};

template <Function function, Form form>
int make_call(void* address, const Call& call) {
  return call_mpi<function, form, int>(
      reinterpret_cast<NativeFunction<function, form, int>>(address), call);
}

inline constexpr CollectiveRow kCollectiveRows[] = {
#define SUMAC_CALL(name)
#define SUMAC_ROW_MpiCount(name, function, form)
#define SUMAC_ROW_int(name, function, form)                                                      \
  {{Function::function, info_of(collective_of(Function::function)), Form::form, false, nullptr}, \
   #name,                                                                                        \
   make_call<Function::function, Form::form>},
#define SUMAC_COLLECTIVE(name, function, form, count) SUMAC_ROW_##count(name, function, form)
#include "interpose/calls.def"
#undef SUMAC_ROW_int
#undef SUMAC_ROW_MpiCount
#undef SUMAC_CALL
};
inline constexpr int kNumCollectiveRows = sizeof kCollectiveRows / sizeof *kCollectiveRows;

// The functions of one contender. A request must be completed by the contender that started it.
struct Functions {
  void* collectives[kNumCollectiveRows];  // to be measured, by row; null where it does not exist
  // What the benchmark itself calls.
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Start) start;
  decltype(&MPI_Wait) wait;
  decltype(&MPI_Test) test;
  decltype(&MPI_Request_free) request_free;
  decltype(&MPI_Reduce_local) reduce_local;
  decltype(&MPI_Pack) pack;
  decltype(&MPI_Unpack) unpack;
};

// The functions that a call in this program reaches: Sumac's where it is loaded, else the MPI's.
Functions as_called();
// The MPI's own functions; where Sumac is loaded, they are obtained from sumac_native().
Functions of_the_mpi();

}  // namespace sumac::bench

// SPDX-License-Identifier: BSD-3-Clause
// The MPI functions that each of the two contenders calls.
#pragma once

#include <mpi.h>

namespace sumac::bench {

// Declared here because Open MPI 4 has persistent collectives, but does not declare them in
// <mpi.h>.
using AllreduceInit = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                              MPI_Request*);
using ReduceInit = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Info,
                           MPI_Request*);
using BcastInit = int (*)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*);
using ReduceScatterBlockInit = AllreduceInit;
using AllgatherInit = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm,
                              MPI_Info, MPI_Request*);
using AlltoallInit = AllgatherInit;
using AlltoallvInit = int (*)(const void*, const int*, const int*, MPI_Datatype, void*, const int*,
                              const int*, MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*);
using BarrierInit = int (*)(MPI_Comm, MPI_Info, MPI_Request*);

// The functions of one contender. A request must be completed by the contender that started it.
// Persistent functions that do not exist are null.
struct Functions {
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Reduce_scatter) reduce_scatter;
  decltype(&MPI_Allgatherv) allgatherv;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Alltoallv) alltoallv;
  decltype(&MPI_Iallreduce) iallreduce;
  decltype(&MPI_Ireduce) ireduce;
  decltype(&MPI_Ibcast) ibcast;
  decltype(&MPI_Ibarrier) ibarrier;
  decltype(&MPI_Ireduce_scatter_block) ireduce_scatter_block;
  decltype(&MPI_Iallgather) iallgather;
  decltype(&MPI_Ireduce_scatter) ireduce_scatter;
  decltype(&MPI_Iallgatherv) iallgatherv;
  decltype(&MPI_Ialltoall) ialltoall;
  decltype(&MPI_Ialltoallv) ialltoallv;
  AllreduceInit allreduce_init;
  ReduceInit reduce_init;
  BcastInit bcast_init;
  BarrierInit barrier_init;
  ReduceScatterBlockInit reduce_scatter_block_init;
  AllgatherInit allgather_init;
  AlltoallInit alltoall_init;
  AlltoallvInit alltoallv_init;
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

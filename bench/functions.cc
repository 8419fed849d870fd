// SPDX-License-Identifier: BSD-3-Clause
#include "functions.h"

#include <dlfcn.h>

#include <string>

#include "presence.h"
#include "sumac/sumac.h"

namespace sumac::bench {
namespace {

template <typename Function>
Function loaded(const std::string& name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name.c_str()));
}

// The MPI's function behind `name`, or `called` when Sumac is not loaded.
template <typename Function>
Function native(const char* name, Function called) {
  const auto ask = loaded<decltype(&sumac_native)>("sumac_native");
  void* const function = ask != nullptr ? ask(name) : nullptr;
  return function != nullptr ? reinterpret_cast<Function>(function) : called;
}

// Open MPI 4 calls this function MPIX_<name>, the name it had before MPI 4.0.
template <typename Function>
Function before_mpi_4(const char* name) {
  return loaded<Function>(std::string("MPIX_") + name);
}

// MPI_<name> as a call in this program would reach it. Null if there is none.
template <typename Function>
Function called_persistent(const char* name) {
  const auto function = loaded<Function>(std::string("MPI_") + name);
  return function != nullptr ? function : before_mpi_4<Function>(name);
}

// The MPI's own MPI_<name>. The symbol itself does not do: Sumac exports the name even where the
// MPI lacks it.
template <typename Function>
Function native_persistent(const char* name) {
  if (!presence().loaded) return called_persistent<Function>(name);
  const std::string full = std::string("MPI_") + name;
  const auto function = native<Function>(full.c_str(), nullptr);
  return function != nullptr ? function : before_mpi_4<Function>(name);
}

}  // namespace

Functions as_called() {
  return {MPI_Allreduce,
          MPI_Reduce,
          MPI_Bcast,
          MPI_Barrier,
          MPI_Reduce_scatter_block,
          MPI_Allgather,
          MPI_Reduce_scatter,
          MPI_Allgatherv,
          MPI_Alltoall,
          MPI_Alltoallv,
          MPI_Iallreduce,
          MPI_Ireduce,
          MPI_Ibcast,
          MPI_Ibarrier,
          MPI_Ireduce_scatter_block,
          MPI_Iallgather,
          MPI_Ireduce_scatter,
          MPI_Iallgatherv,
          MPI_Ialltoall,
          MPI_Ialltoallv,
          called_persistent<AllreduceInit>("Allreduce_init"),
          called_persistent<ReduceInit>("Reduce_init"),
          called_persistent<BcastInit>("Bcast_init"),
          called_persistent<BarrierInit>("Barrier_init"),
          called_persistent<ReduceScatterBlockInit>("Reduce_scatter_block_init"),
          called_persistent<AllgatherInit>("Allgather_init"),
          called_persistent<AlltoallInit>("Alltoall_init"),
          called_persistent<AlltoallvInit>("Alltoallv_init"),
          MPI_Start,
          MPI_Wait,
          MPI_Test,
          MPI_Request_free,
          MPI_Reduce_local,
          MPI_Pack,
          MPI_Unpack};
}

Functions of_the_mpi() {
  const Functions called = as_called();
  return {native("MPI_Allreduce", called.allreduce),
          native("MPI_Reduce", called.reduce),
          native("MPI_Bcast", called.bcast),
          native("MPI_Barrier", called.barrier),
          native("MPI_Reduce_scatter_block", called.reduce_scatter_block),
          native("MPI_Allgather", called.allgather),
          native("MPI_Reduce_scatter", called.reduce_scatter),
          native("MPI_Allgatherv", called.allgatherv),
          native("MPI_Alltoall", called.alltoall),
          native("MPI_Alltoallv", called.alltoallv),
          native("MPI_Iallreduce", called.iallreduce),
          native("MPI_Ireduce", called.ireduce),
          native("MPI_Ibcast", called.ibcast),
          native("MPI_Ibarrier", called.ibarrier),
          native("MPI_Ireduce_scatter_block", called.ireduce_scatter_block),
          native("MPI_Iallgather", called.iallgather),
          native("MPI_Ireduce_scatter", called.ireduce_scatter),
          native("MPI_Iallgatherv", called.iallgatherv),
          native("MPI_Ialltoall", called.ialltoall),
          native("MPI_Ialltoallv", called.ialltoallv),
          native_persistent<AllreduceInit>("Allreduce_init"),
          native_persistent<ReduceInit>("Reduce_init"),
          native_persistent<BcastInit>("Bcast_init"),
          native_persistent<BarrierInit>("Barrier_init"),
          native_persistent<ReduceScatterBlockInit>("Reduce_scatter_block_init"),
          native_persistent<AllgatherInit>("Allgather_init"),
          native_persistent<AlltoallInit>("Alltoall_init"),
          native_persistent<AlltoallvInit>("Alltoallv_init"),
          native("MPI_Start", called.start),
          native("MPI_Wait", called.wait),
          native("MPI_Test", called.test),
          native("MPI_Request_free", called.request_free),
          native("MPI_Reduce_local", called.reduce_local),
          native("MPI_Pack", called.pack),
          native("MPI_Unpack", called.unpack)};
}

Presence presence() {
  const auto version = loaded<decltype(&sumac_version)>("sumac_version");
  const auto active = loaded<decltype(&sumac_active)>("sumac_active");
  const auto description = loaded<decltype(&sumac_description)>("sumac_description");
  if (version == nullptr || active == nullptr || description == nullptr) return {};
  return {true, active() != 0, version(), description()};
}

const char* last_path() {
  const auto path = loaded<decltype(&sumac_last_path)>("sumac_last_path");
  const char* const name = path != nullptr ? path() : nullptr;
  return name != nullptr ? name : "";
}

}  // namespace sumac::bench

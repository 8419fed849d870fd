// SPDX-License-Identifier: BSD-3-Clause
#include "functions.h"

#include <dlfcn.h>

#include <string>

#include "results.h"
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

// Open MPI 4 has the persistent functions by the name that they had before MPI 4.0.
void* before_mpi_4(const std::string& name) { return loaded<void*>("MPIX_" + name); }

// MPI_<name> as a call in this program would reach it. Null if there is none.
void* called_collective(const std::string& name) {
  void* const function = loaded<void*>("MPI_" + name);
  return function != nullptr ? function : before_mpi_4(name);
}

// The MPI's own MPI_<name>. The symbol itself does not do: Sumac exports the name even where the
// MPI lacks it.
void* native_collective(const std::string& name) {
  if (!presence().loaded) return called_collective(name);
  const std::string full = "MPI_" + name;
  void* const function = native<void*>(full.c_str(), nullptr);
  return function != nullptr ? function : before_mpi_4(name);
}

}  // namespace

Functions as_called() {
  Functions called{{},        MPI_Allreduce, MPI_Reduce, MPI_Bcast,        MPI_Barrier,
                   MPI_Start, MPI_Wait,      MPI_Test,   MPI_Request_free, MPI_Reduce_local,
                   MPI_Pack,  MPI_Unpack};
  for (int row = 0; row < kNumCollectiveRows; row++)
    called.collectives[row] = called_collective(kCollectiveRows[row].name);
  return called;
}

Functions of_the_mpi() {
  const Functions called = as_called();
  Functions own{{},
                native("MPI_Allreduce", called.allreduce),
                native("MPI_Reduce", called.reduce),
                native("MPI_Bcast", called.bcast),
                native("MPI_Barrier", called.barrier),
                native("MPI_Start", called.start),
                native("MPI_Wait", called.wait),
                native("MPI_Test", called.test),
                native("MPI_Request_free", called.request_free),
                native("MPI_Reduce_local", called.reduce_local),
                native("MPI_Pack", called.pack),
                native("MPI_Unpack", called.unpack)};
  for (int row = 0; row < kNumCollectiveRows; row++)
    own.collectives[row] = native_collective(kCollectiveRows[row].name);
  return own;
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

// SPDX-License-Identifier: BSD-3-Clause
// A library between Sumac and the MPI, which Sumac takes for the MPI (stub/find_mpi.c). It says
// that it is built for GPUs: its all-reduces and broadcasts take buffers in the memory of a
// stand-in for CUDA's driver, which they need not copy.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdlib>

#include "devices/stand_in.h"

namespace {

unsigned long calls = 0;  // with a buffer in a GPU's memory
unsigned delay = 0;       // of each of these, in microseconds

// A function of the MPI, which is known by one that Sumac does not intercept: the next library may
// be Sumac.
template <class Function>
Function* real(const char* name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&PMPI_Comm_rank), &info) == 0) std::abort();
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

template <class Function>
Function* in_driver(const char* name) {
  static void* const library = dlopen(std::getenv("SUMAC_TEST_RUNTIMES"), RTLD_LAZY);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Returns where the host finds a buffer.
void* seen(const void* buffer) {
  static auto* const ask =
      in_driver<int(unsigned, const int*, void**, unsigned long long)>("cuPointerGetAttributes");
  static auto* const view = in_driver<decltype(stand_in_view)>("stand_in_view");
  void* const given = const_cast<void*>(buffer);
  if (buffer == MPI_IN_PLACE) return given;
  constexpr int kMemoryType = 2, kDevice = 2;
  int type = 0;
  void* const values[] = {&type};
  ask(1, &kMemoryType, const_cast<void**>(values), reinterpret_cast<unsigned long long>(buffer));
  return type == kDevice ? view(given) : given;
}

void note(const void* buffer, const void* at) {
  if (buffer == at) return;
  ++calls;
  if (delay > 0) usleep(delay);
}

}  // namespace

STAND_IN_EXPORT unsigned long device_mpi_calls() { return calls; }
STAND_IN_EXPORT void device_mpi_delay(unsigned microseconds) { delay = microseconds; }

STAND_IN_EXPORT int MPIX_Query_cuda_support() { return 1; }

// By this symbol Sumac finds the MPI.
STAND_IN_EXPORT int PMPI_Get_version(int* version, int* subversion) {
  return real<decltype(PMPI_Get_version)>("PMPI_Get_version")(version, subversion);
}

STAND_IN_EXPORT int PMPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm) {
  static auto* const below = real<decltype(PMPI_Allreduce)>("PMPI_Allreduce");
  void *const from = seen(send), *const to = seen(receive);
  note(receive, to);
  return below(from, to, count, type, op, comm);
}

STAND_IN_EXPORT int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root,
                               MPI_Comm comm) {
  static auto* const below = real<decltype(PMPI_Bcast)>("PMPI_Bcast");
  void* const at = seen(buffer);
  note(buffer, at);
  return below(at, count, type, root, comm);
}

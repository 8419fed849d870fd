// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alloc_mem is the standard's way to ask for memory that is good for communication. Sumac gives
// memory that the node's other ranks can map (promotion/born_shared.h). The MPI gives what is
// small, what is asked for with an info key that Sumac does not know, and what Sumac cannot have;
// and it judges arguments that are wrong.
//
// Memory that the program does not give back stays until the process ends, as it does under the
// MPIs: programs read it after MPI_Finalize.
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/launch.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/own_memory.h"
#include "interpose/process/process.h"
#include "promotion/born_shared.h"

namespace sumac {
namespace {

// Nobody would map the memory of a rank that is alone on its node, or that others may not read.
bool others_may_map() {
  static const bool may = options.cma == 0 && sumac_launch_ranks_on_node() != 1;
  return may;
}

// Returns the alignment that the program asks for; 0: the MPI must give the memory.
std::size_t alignment_asked(MpiInfo info) {
  if (info == kMpi.info_null) return 1;
  char value[32] = "";
  int keys = 0, found = 0;
  if (mpi.Info_get_nkeys(info, &keys) != kMpiSuccess) return 0;
  if (keys == 0) return 1;
  if (keys > 1) return 0;
  mpi.Info_get(info, "mpi_minimum_memory_alignment", sizeof value - 1, value, &found);
  char* end = nullptr;
  const unsigned long long alignment = found ? std::strtoull(value, &end, 10) : 0;
  return end && *end == 0 && std::has_single_bit(alignment) ? alignment : 0;
}

// Returns true if the MPI serves such calls now. MPI_Initialized does not tell of sessions, so
// without MPI_Init the MPI is asked; then `error` is what it has said.
bool mpi_serves(MpiInfo info, int& error) {
  error = kMpiSuccess;
  if (mpi_is_up()) return true;
  void* memory = nullptr;
  error = mpi.Alloc_mem(1, info, &memory);
  if (error == kMpiSuccess) mpi.Free_mem(memory);
  return error == kMpiSuccess;
}

int alloc_mem(MpiAint bytes, MpiInfo info, void* base) {
  const bool fits = bytes >= static_cast<MpiAint>(promotion::kLeastBorn);
  if (!fits || !base || !others_may_map()) return mpi.Alloc_mem(bytes, info, base);
  int error = kMpiSuccess;
  if (!mpi_serves(info, error)) return error;
  const std::size_t alignment = alignment_asked(info);
  void* const memory = alignment > 0 && open_own_memory()
                           ? promotion::allocate_shared(static_cast<std::size_t>(bytes), alignment)
                           : nullptr;
  if (!memory) return mpi.Alloc_mem(bytes, info, base);
  std::memcpy(base, &memory, sizeof memory);
  return kMpiSuccess;
}

int free_mem(void* base) { return promotion::free_shared(base) ? kMpiSuccess : mpi.Free_mem(base); }

}  // namespace

void redirect_alloc_mem(const sumac_stub& stub) {
  in_front.Alloc_mem = alloc_mem;
  in_front.Free_mem = free_mem;
  put_in_front(stub, SUMAC_CALL_Alloc_mem);
  put_in_front(stub, SUMAC_CALL_Free_mem);
}

}  // namespace sumac

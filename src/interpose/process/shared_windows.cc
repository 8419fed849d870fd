// SPDX-License-Identifier: BSD-3-Clause
// MPI_Win_allocate_shared and MPI_Win_free show which shared memory the MPI has given to the
// program. Buffers there are used directly (transport/shared_mappings.h).
#include <map>
#include <mutex>
#include <vector>

#include "base/hash.h"
#include "interpose/mpi/handles.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/process/own_memory.h"
#include "promotion/promotion.h"
#include "transport/shared_mappings.h"

namespace sumac {
namespace {

std::mutex mutex;
// The map has the mappings by window. It is never destroyed: windows may be freed while the process
// ends.
auto& windows = *new std::map<std::uintptr_t, std::vector<SharedMapping>>;

std::uint64_t word_of(const promotion::Mapping& mapping) {
  const std::uint64_t word = hash_value(mapping.inode ^ hash_value(mapping.device));
  return word ? word : 1;
}

// The parts of all ranks lie in one mapping or in several.
std::vector<SharedMapping> mappings_of(MpiComm comm, MpiWin win) {
  std::vector<SharedMapping> found;
  int ranks = 0;
  mpi.Comm_size(comm, &ranks);
  for (int r = 0; r < ranks; ++r) {
    MpiAint bytes = 0;
    int unit = 0;
    void* address = nullptr;
    if (mpi.Win_shared_query(win, r, &bytes, &unit, &address) != kMpiSuccess) break;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (bytes <= 0 || (!found.empty() && begin >= found.back().begin && begin < found.back().end)) {
      continue;
    }
    promotion::Mapping mapping;
    if (!promotion::shared_mapping(address, mapping)) continue;
    found.push_back({mapping.begin, mapping.end, mapping.offset, word_of(mapping)});
  }
  return found;
}

int win_allocate_shared(MpiAint bytes, int unit, MpiInfo info, MpiComm comm, void* base,
                        WinPointer win) {
  const int error = mpi.Win_allocate_shared(bytes, unit, info, comm, base, win);
  if (error != kMpiSuccess || promotion::status() != promotion::Refusal::none) return error;
  std::vector<SharedMapping> found = mappings_of(comm, *win);
  for (const SharedMapping& each : found) shared_mappings().add(each);
  const std::lock_guard<std::mutex> lock(mutex);
  windows[(*win).bits] = std::move(found);
  return error;
}

int win_free(WinPointer win) {
  if (win) {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto known = windows.find((*win).bits);
    if (known != windows.end()) {
      for (const SharedMapping& each : known->second) shared_mappings().remove(each);
      windows.erase(known);
    }
  }
  return mpi.Win_free(win);
}

}  // namespace

void redirect_shared_windows(const sumac_stub& stub) {
  in_front.Win_allocate_shared = win_allocate_shared;
  in_front.Win_free = win_free;
  put_in_front(stub, SUMAC_CALL_Win_allocate_shared);
  put_in_front(stub, SUMAC_CALL_Win_free);
}

}  // namespace sumac

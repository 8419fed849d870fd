// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/mpi/growing_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/align.h"
#include "interpose/mpi/mpi_functions.h"
#include "interpose/mpi/world.h"
#include "observe/log.h"

namespace sumac {

void GrowingMemory::free() {
  std::free(memory_);
  memory_ = nullptr;
  bytes_ = 0;
}

void GrowingMemory::grow(std::size_t bytes, MpiComm comm) {
  const std::size_t wanted = round_up(std::max(bytes, 2 * bytes_), kPage);
  free();
  memory_ = static_cast<std::byte*>(std::aligned_alloc(kPage, wanted));
  if (!memory_) {
    log_here("error[no-memory]: no memory to reduce %zu bytes; ending the job", bytes);
    end_job(comm);
    return;
  }
  // The program's function may copy gaps of its type before anything is written to them.
  std::memset(memory_, 0, wanted);
  bytes_ = wanted;
}

}  // namespace sumac

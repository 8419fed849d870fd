// SPDX-License-Identifier: BSD-3-Clause
// Some calls find ways past Sumac. A tool behind Sumac that wraps MPI_X and does not refer to
// PMPI_X looks the next function up itself, and finds the MPI's; and the loader binds objects that
// were opened with RTLD_DEEPBIND to the MPI.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "interpose/stub/internal.h"
#include "interpose/stub/references.h"

enum { kFirstCompletion = SUMAC_CALL_Start, kLastCompletion = SUMAC_CALL_Cancel };

static bool is_named(const char* name, const void* bound, void* wanted) {
  (void)bound;
  return strcmp(name, wanted) == 0;
}

static bool passes_by(const void* tool, int slot) {
  char name[kLongestName], wanted[kLongestName + 1];
  if (tool == NULL) return false;
  snprintf(wanted, sizeof wanted, "P%s", stub_name(name, slot));
  return !stub_refers(tool, is_named, wanted);
}

const char* stub_collectives_pass_by(void* const* before) {
  for (int slot = 0; slot < kPublicSlots; ++slot) {
    const bool collective = slot < SUMAC_CALL_Reduce_local || slot >= SUMAC_NUM_CALLS;
    Dl_info tool;
    if (!collective || !passes_by(before[slot], slot)) continue;
    return dladdr(before[slot], &tool) != 0 ? tool.dli_fname : "a tool";
  }
  return NULL;
}

static bool is_completion(const char* name) {
  for (int call = kFirstCompletion; call <= kLastCompletion; ++call) {
    if (strcmp(name + (*name == 'P'), stub_call_names[call]) == 0) return true;
  }
  return false;
}

static bool is_bound_to_mpi(const char* name, const void* bound, void* mpi) {
  return stub_is_of_mpi(mpi, bound) && is_completion(name);
}

// A request of Sumac's is one of the MPI's, but the MPI learns of its end only from the call that
// completes it. If that call went past Sumac, the request would never end.
bool stub_requests_pass_by(struct mpi_library* mpi, void* const* before) {
  for (int slot = kFirstCompletion; slot <= kLastCompletion; ++slot) {
    if (passes_by(before[slot], slot)) return true;
  }
  return stub_any_refers((const void*)mpi->low, is_bound_to_mpi, mpi);
}

bool stub_gives_request(int call) {
  return call == SUMAC_CALL_Isend || call == SUMAC_CALL_Irecv ||
         call == SUMAC_CALL_Ineighbor_alltoallw;
}

// SPDX-License-Identifier: BSD-3-Clause
// Whether the program's requests may be completed past Sumac. A request of Sumac's is the MPI's,
// but the MPI learns of its end only from the call that completes it, so it would never end there.
#include <string.h>

#include "interpose/stub/internal.h"
#include "interpose/stub/references.h"

enum { kFirst = SUMAC_CALL_Start, kLast = SUMAC_CALL_Cancel };

static bool is_named(const char* name, const void* bound, void* wanted) {
  (void)bound;
  return strcmp(name, wanted) == 0;
}

// A tool behind Sumac that does not call PMPI_X has looked the next function up itself.
static bool tool_passes_by(void* const* before) {
  for (int slot = kFirst; slot <= kLast; ++slot) {
    char name[kLongestName];
    stub_name(name, kPublicSlots + slot);
    if (before[slot] != NULL && !stub_refers(before[slot], is_named, name)) return true;
  }
  return false;
}

static bool is_completion(const char* name) {
  for (int call = kFirst; call <= kLast; ++call) {
    if (strcmp(name + (*name == 'P'), stub_call_names[call]) == 0) return true;
  }
  return false;
}

static bool is_bound_to_mpi(const char* name, const void* bound, void* mpi) {
  return stub_is_of_mpi(mpi, bound) && is_completion(name);
}

bool stub_requests_pass_by(struct mpi_library* mpi, void* const* before) {
  return tool_passes_by(before) || stub_any_refers((const void*)mpi->low, is_bound_to_mpi, mpi);
}

bool stub_makes_requests(int call) {
  enum { blocking = 0, local = 0, nonblocking = 1, persistent = 1 };
  static const bool makes[SUMAC_NUM_CALLS] = {
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, count) [SUMAC_CALL_##name] = form,
#include "interpose/calls.def"
#undef SUMAC_CALL
      [SUMAC_CALL_Isend] = true,
      [SUMAC_CALL_Irecv] = true,
      [SUMAC_CALL_Ineighbor_alltoallw] = true,
  };
  return makes[call];
}

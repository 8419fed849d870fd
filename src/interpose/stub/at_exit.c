// SPDX-License-Identifier: BSD-3-Clause
// This speaks at the end of a process if Sumac has not seen a call of its MPI. It runs as the
// library's DT_FINI in every process of a job, so it returns at once unless somebody has asked for
// statistics or messages.
#include <stdlib.h>
#include <string.h>

#include "base/switch_word.h"
#include "interpose/stub/internal.h"

static bool is_asked_for(const char* variable) {
  const char* value = getenv(variable);
  return value != NULL && value[0] != '\0' && sumac_switch_word(value) != 0;
}

void stub_at_exit(void) {
  struct mpi_library mpi;
  if (stub_was_called() || (!is_asked_for("SUMAC_STATS") && !is_asked_for("SUMAC_DEBUG"))) return;
  if (!stub_find_mpi(&mpi, NULL, NULL)) return;
  stub_warn("no-calls",
            "%s is in this process, but no call of it came to Sumac\n"
            "  why:   the program made none, or it looks the MPI's functions up itself (dlsym), as "
            "MPI.jl does",
            mpi.path);
  stub_forget_mpi(&mpi);
}

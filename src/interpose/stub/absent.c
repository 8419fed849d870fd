// SPDX-License-Identifier: BSD-3-Clause
// The MPI lacks these functions. Sumac exports their names nevertheless, so a program that asks
// whether MPI_X exists gets "yes" and its call arrives here.
#include <stddef.h>

#include "interpose/stub/internal.h"

enum { kMpiErrOther = 16 };  // value in Open MPI and the standard ABI; some error class everywhere

static int report(int call) {
  static atomic_flag reported[SUMAC_NUM_CALLS];
  const char* name = stub_call_names[call];
  if (!stub_resolved()) {
    stub_error("no-mpi",
               "%s was called, but no MPI is loaded in this process\n"
               "  fix:   link the program with its MPI, or open the MPI before the first call",
               name);
  } else if (!atomic_flag_test_and_set(&reported[call])) {
    stub_warn("missing-function", "%s was called, but this MPI does not have it", name);
  }
  return kMpiErrOther;
}

#define SUMAC_CALL(name) \
  static int absent_##name(void) { return report(SUMAC_CALL_##name); }
#include "interpose/calls.def"
#undef SUMAC_CALL

void* stub_absent(int call) {
  static int (*const functions[])(void) = {
#define SUMAC_CALL(name) absent_##name,
#include "interpose/calls.def"
#undef SUMAC_CALL
  };
  return (void*)functions[call];
}

void* stub_substitute(int call, const struct sumac_stub* stub) {
  void* function = stub_large_count(call, stub->real);
  if (function == NULL) function = stub_request_status(call, stub);
  return function != NULL ? function : stub_absent(call);
}

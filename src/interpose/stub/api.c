// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "interpose/stub/internal.h"

const char* sumac_version(void) { return SUMAC_VERSION; }

void* sumac_native(const char* name) {
  if (name == NULL) return NULL;
  if (*name == 'P') ++name;
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    if (strcmp(name, stub_call_names[call]) == 0) {
      return stub_native(call, __builtin_return_address(0));
    }
  }
  return NULL;
}

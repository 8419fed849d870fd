// SPDX-License-Identifier: BSD-3-Clause
// These are the names of the slots, in the order of trampolines.S.
#include <string.h>

#include "interpose/stub/internal.h"

const char* const stub_call_names[SUMAC_NUM_CALLS] = {
#define SUMAC_CALL(name) "MPI_" #name,
#include "interpose/calls.def"
#undef SUMAC_CALL
};

static const struct {
  const char* name;
  int call;
} others[] = {
#define SUMAC_CALL(name)
#define SUMAC_OTHER_NAME(other, name) {#other, SUMAC_CALL_##name},
#include "interpose/calls.def"
#undef SUMAC_CALL
};

int stub_call_of(int slot) {
  if (slot < SUMAC_NUM_CALLS) return slot;
  if (slot < kPublicSlots) return others[slot - SUMAC_NUM_CALLS].call;
  return slot - kPublicSlots;
}

const char* stub_name(char text[kLongestName], int slot) {
  const bool other = slot >= SUMAC_NUM_CALLS && slot < kPublicSlots;
  text[0] = '\0';
  if (slot >= kPublicSlots) strcpy(text, "P");
  const char* name =
      other ? others[slot - SUMAC_NUM_CALLS].name : stub_call_names[stub_call_of(slot)];
  strncat(text, name, kLongestName - 2);
  return text;
}

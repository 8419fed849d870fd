// SPDX-License-Identifier: BSD-3-Clause
#include <stddef.h>
#include <stdint.h>
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

// The functions of sumac.h from here on make or take MPI handles. A program that is merely linked
// to Sumac may call one before its first MPI call, so each makes sure that the back end is started;
// only the back end knows what it means.
//
// A word is a handle, pointer or int, of any MPI, or an int: see large_count.c.
typedef intptr_t word;
typedef int (*function3)(word, word, word);

#define EXPORT __attribute__((visibility("default")))
EXPORT int sumac_op_create(word kind, word flags, word op);
EXPORT int sumac_hint_type(word type, word element);
EXPORT int sumac_hint_op(word op, word kind);
EXPORT int sumac_op_create_f(word kind, word flags, word op);
EXPORT int sumac_hint_type_f(word type, word element);
EXPORT int sumac_hint_op_f(word op, word kind);

// These are MPI_ERR_OTHER of MPICH's family, and of Open MPI and the standard ABI.
enum { kMpichErrOther = 15, kMpiErrOther = 16 };

static int not_served(const char* name, const void* caller) {
  struct mpi_library mpi;
  if (!stub_find_mpi(&mpi, caller, NULL)) {
    stub_error("no-mpi",
               "%s was called, but no MPI is loaded in this process\n"
               "  fix:   link the program with its MPI, or open the MPI before the first call",
               name);
    return kMpiErrOther;
  }
  static atomic_flag reported;
  if (!atomic_flag_test_and_set(&reported)) {
    stub_warn("not-active",
              "%s returns an error, for Sumac is switched off or stands aside; "
              "programs use their MPI's own operations then",
              name);
  }
  const char* family = stub_family(mpi.handle);
  stub_forget_mpi(&mpi);
  return family != NULL && strcmp(family, "mpich") == 0 ? kMpichErrOther : kMpiErrOther;
}

// Calls sumac_backend_<x> for sumac_<x>, with its two or three arguments.
static int ask(const char* name, word a, word b, word c, const void* caller) {
  char backend_name[64] = "sumac_backend_";
  strncat(backend_name, name + strlen("sumac_"), sizeof backend_name - 32);
  if (!stub_resolved()) stub_resolve(SUMAC_CALL_Op_free, caller);
  const function3 function = (function3)stub_backend_function(backend_name);
  return function != NULL ? function(a, b, c) : not_served(name, caller);
}

int sumac_op_create(word kind, word flags, word op) {
  return ask("sumac_op_create", kind, flags, op, __builtin_return_address(0));
}

int sumac_hint_type(word type, word element) {
  return ask("sumac_hint_type", type, element, 0, __builtin_return_address(0));
}

int sumac_hint_op(word op, word kind) {
  return ask("sumac_hint_op", op, kind, 0, __builtin_return_address(0));
}

int sumac_op_create_f(word kind, word flags, word op) {
  return ask("sumac_op_create_f", kind, flags, op, __builtin_return_address(0));
}

int sumac_hint_type_f(word type, word element) {
  return ask("sumac_hint_type_f", type, element, 0, __builtin_return_address(0));
}

int sumac_hint_op_f(word op, word kind) {
  return ask("sumac_hint_op_f", op, kind, 0, __builtin_return_address(0));
}

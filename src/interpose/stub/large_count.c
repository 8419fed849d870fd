// SPDX-License-Identifier: BSD-3-Clause
// MPI_X_c over MPI_X, for an MPI without the large-count forms (Open MPI up to 5). mpi4py prefers
// MPI_X_c wherever the name exists, and Sumac's exports make it exist.
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "interpose/stub/internal.h"

// A handle, pointer or int, of any MPI. On x86-64 and aarch64 Linux each takes one register or one
// 8-byte place on the stack, and a callee that wants an int reads the lower half.
typedef intptr_t word;
typedef int (*function7)(word, word, word, word, word, word, word);
typedef int (*function10)(word, word, word, word, word, word, word, word, word, word);

enum { kMpiErrCount = 2 };  // the same error class in every MPI family

// The int form of a call, or NULL (with a warning) when `count` is beyond an int.
static void* int_form(int call, int64_t count) {
  if (count >= INT_MIN && count <= INT_MAX) return stub_native(call, NULL);
  stub_warn("large-count", "%s_c with a count of %lld, but the counts of this MPI end at %d",
            stub_call_names[call], (long long)count, INT_MAX);
  return NULL;
}

// The calls MPI_X, by those MPI_X_c for which stub_large_count() has given a function.
static int plain_forms[SUMAC_NUM_CALLS];

static int find_plain_form(int large) {
  const size_t length = strlen(stub_call_names[large]) - strlen("_c");
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    const char* name = stub_call_names[call];
    if (strlen(name) == length && memcmp(name, stub_call_names[large], length) == 0) return call;
  }
  return large;  // none
}

// Where the count is among the arguments of a collective, in all its forms.
enum { allreduce = 2, reduce = 2, reduce_local = 2, bcast = 1 };

// As many arguments as any of them has: a function with fewer leaves the last ones unread, which
// are whatever lies there.
enum { kMostArguments = 10 };

static int call_int_form(int large, int count, const word* a) {
  const function10 mpi = (function10)int_form(plain_forms[large], a[count]);
  if (mpi == NULL) return kMpiErrCount;
  return mpi(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9]);
}

#define LARGE_int(name, count)
#define LARGE_MPI_Count(name, count)                                                      \
  static int name(word a, word b, word c, word d, word e, word f, word g, word h, word i, \
                  word j) {                                                               \
    const word arguments[kMostArguments] = {a, b, c, d, e, f, g, h, i, j};                \
    return call_int_form(SUMAC_CALL_##name, count, arguments);                            \
  }
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, collective, form, type) LARGE_##type(name, collective)
#include "interpose/calls.def"
#undef SUMAC_CALL
#undef LARGE_MPI_Count

// Packing moves the position too. A packed buffer may be larger than an int can hold, as long as
// the packed data end below that.
static int64_t shortened(int64_t size) { return size < INT_MAX ? size : INT_MAX; }

static int pack(word in, int64_t count, word type, word out, int64_t size, int64_t* position,
                word comm) {
  const function7 mpi = (function7)int_form(SUMAC_CALL_Pack, count);
  if (mpi == NULL || *position > INT_MAX) return kMpiErrCount;
  int here = (int)*position;
  const int error = mpi(in, count, type, out, shortened(size), (word)&here, comm);
  *position = here;
  return error;
}

static int unpack(word in, int64_t size, int64_t* position, word out, int64_t count, word type,
                  word comm) {
  const function7 mpi = (function7)int_form(SUMAC_CALL_Unpack, count);
  if (mpi == NULL || *position > INT_MAX) return kMpiErrCount;
  int here = (int)*position;
  const int error = mpi(in, shortened(size), (word)&here, out, count, type, comm);
  *position = here;
  return error;
}

void* stub_large_count(int call, void* const* real) {
#define LARGE_MPI_Count(name, count) [SUMAC_CALL_##name] = (void*)name,
  static void* const forms[SUMAC_NUM_CALLS] = {
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, collective, form, type) LARGE_##type(name, collective)
#include "interpose/calls.def"
#undef SUMAC_CALL
      [SUMAC_CALL_Pack_c] = (void*)pack,
      [SUMAC_CALL_Unpack_c] = (void*)unpack,
  };
  if (forms[call] == NULL) return NULL;
  plain_forms[call] = find_plain_form(call);
  return real[plain_forms[call]] != NULL ? forms[call] : NULL;
}

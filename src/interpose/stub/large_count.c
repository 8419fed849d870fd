// SPDX-License-Identifier: BSD-3-Clause
// Makes MPI_X_c of MPI_X, for an MPI without the large-count forms (Open MPI up to 5). mpi4py
// prefers MPI_X_c wherever the name exists, and Sumac's exports make it exist.
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/stub/internal.h"

// A word is a handle, pointer or int, of any MPI. On x86-64 and aarch64 Linux each takes one
// register or one 8-byte place on the stack, and a callee that wants an int reads the lower half.
typedef intptr_t word;
typedef int (*function7)(word, word, word, word, word, word, word);
typedef int (*function11)(word, word, word, word, word, word, word, word, word, word, word);

enum { kMpiErrCount = 2 };  // the same error class in every MPI family

// Returns the int form of a call, or NULL (with a warning) if `count` is beyond an int.
static void* int_form(int call, int64_t count) {
  if (count >= INT_MIN && count <= INT_MAX) return stub_native(call, NULL);
  stub_warn("large-count", "%s_c with a count of %lld, but the counts of this MPI end at %d",
            stub_call_names[call], (long long)count, INT_MAX);
  return NULL;
}

// The array has the calls MPI_X, indexed by those MPI_X_c for which stub_large_count() has given a
// function.
static int plain_forms[SUMAC_NUM_CALLS];

static int find_plain_form(int large) {
  const size_t length = strlen(stub_call_names[large]) - strlen("_c");
  for (int call = 0; call < SUMAC_NUM_CALLS; ++call) {
    const char* name = stub_call_names[call];
    if (strlen(name) == length && memcmp(name, stub_call_names[large], length) == 0) return call;
  }
  return large;  // there is none
}

// The places say where counts are among the arguments of a collective's function, in all its forms.
// Collectives with a part for each rank also have arrays of counts or displacements, and the
// communicator.
struct places {
  int counts[2], arrays[4], comm;  // 0: none
  int receives;                    // where the receive buffer is
};

// `arguments`: the letters of calls.def.
static struct places places_of(const char* arguments) {
  struct places at = {.comm = 0};
  int counts = 0, arrays = 0;
  for (int i = 0; arguments[i] != '\0'; ++i) {
    if (arguments[i] == 'b') at.receives = i;
    if (arguments[i] == 'c' || arguments[i] == 'p') at.counts[counts++] = i;
    if (arguments[i] == 'C' || arguments[i] == 'D') at.arrays[arrays++] = i;
  }
  if (strpbrk(arguments, "pC") != NULL) at.comm = (int)strlen(arguments);
  return at;
}

// The functions, and the letters of each.
#define SUMAC_CALL(name)
enum {
#define SUMAC_FUNCTION(function, collective, arguments) of_##function,
#include "interpose/calls.def"
};
static const char* const letters[] = {
#define SUMAC_FUNCTION(function, collective, arguments) arguments,
#include "interpose/calls.def"
};
#undef SUMAC_CALL

// A form is 1 if a call has ended when it returns, and so does not need its arguments any more.
enum { blocking = 1, local = 1, nonblocking = 0, persistent = 0 };

// No function has more arguments: one with fewer leaves the last ones unread, which are whatever
// lies there.
enum { kMostArguments = 11 };

// These are MPI_IN_PLACE of MPICH and of Open MPI; neither is anybody's buffer.
static bool is_in_place(word buffer) { return buffer == -1 || buffer == 1; }

// Returns the MPI's function of that name. `kept` has it from the first search on, which goes
// through all loaded objects and takes some ten microseconds.
static void* mpi_function(_Atomic(void*)* kept, const char* name) {
  void* found = atomic_load_explicit(kept, memory_order_acquire);
  if (found == NULL) {
    found = stub_mpi_function(name);
    atomic_store_explicit(kept, found, memory_order_release);
  }
  return found;
}

// Returns how many entries an array has that is as long as the communicator has ranks, or the group
// at its other end.
static int entries_of(int call, word comm) {
  typedef int (*ask)(word, int*);
  static _Atomic(void*) test_inter, comm_size, comm_remote_size;
  const ask is_inter = (ask)mpi_function(&test_inter, "PMPI_Comm_test_inter");
  const ask size = (ask)mpi_function(&comm_size, "PMPI_Comm_size");
  const ask remote_size = (ask)mpi_function(&comm_remote_size, "PMPI_Comm_remote_size");
  int inter = 0, entries = -1;
  if (is_inter(comm, &inter) != 0) return -1;
  const bool reduces = strstr(stub_call_names[call], "educe") != NULL;
  const bool remote = inter != 0 && !reduces;
  return (remote ? remote_size : size)(comm, &entries) == 0 ? entries : -1;
}

// An MPI may read these arrays after the call that was given them has returned. Equal ones are kept
// once, so there are as many as the program has different ones.
struct kept {
  struct kept* next;
  int entries;
  int values[];
};

static int* keep(const int* values, int entries) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static struct kept* all = NULL;
  const size_t bytes = (size_t)entries * sizeof *values;
  pthread_mutex_lock(&mutex);
  struct kept* found = all;
  while (found != NULL &&
         (found->entries != entries || memcmp(found->values, values, bytes) != 0)) {
    found = found->next;
  }
  if (found == NULL && (found = malloc(sizeof *found + bytes)) != NULL) {
    found->next = all;
    found->entries = entries;
    memcpy(found->values, values, bytes);
    all = found;
  }
  pthread_mutex_unlock(&mutex);
  return found != NULL ? found->values : NULL;
}

// Returns the array as ints: from malloc() for a call that `ends`, otherwise kept. Returns NULL if
// a value is beyond an int.
static int* shorten(int call, const int64_t* values, word comm, bool ends) {
  const int entries = entries_of(call, comm);
  int* shorter = entries < 0 ? NULL : malloc((size_t)entries * sizeof *shorter + 1);
  for (int i = 0; shorter != NULL && i < entries; ++i) {
    if (int_form(call, values[i]) == NULL) {
      free(shorter);
      return NULL;
    }
    shorter[i] = (int)values[i];
  }
  if (shorter == NULL || ends) return shorter;
  int* const lasting = keep(shorter, entries);
  free(shorter);
  return lasting;
}

static int refuse_count(word comm, const struct places* at) {
  typedef int (*tell)(word, int);
  if (at->comm != 0) ((tell)stub_mpi_function("PMPI_Comm_call_errhandler"))(comm, kMpiErrCount);
  return kMpiErrCount;
}

static int call_int_form(int large, int function, bool ends, const word* arguments) {
  const struct places places = places_of(letters[function]);
  const struct places* const at = &places;
  const int call = plain_forms[large];
  word a[kMostArguments];
  memcpy(a, arguments, sizeof a);
  function11 mpi = (function11)stub_native(call, NULL);
  // In place, the counts of what is sent mean nothing.
  const bool in_place = is_in_place(a[0]);
  for (int i = 0; i < 2 && at->counts[i] != 0 && mpi != NULL; ++i) {
    if (at->counts[i] != 1 || !in_place) mpi = (function11)int_form(call, a[at->counts[i]]);
  }
  int* shorter[4] = {NULL};
  for (int i = 0; i < 4 && at->arrays[i] != 0 && mpi != NULL; ++i) {
    if (in_place && at->arrays[i] < at->receives) continue;
    shorter[i] = shorten(call, (const int64_t*)a[at->arrays[i]], a[at->comm], ends);
    if (shorter[i] == NULL) mpi = NULL;
    a[at->arrays[i]] = (word)shorter[i];
  }
  const int error = mpi == NULL
                        ? refuse_count(a[at->comm], at)
                        : mpi(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
  for (int i = 0; i < 4 && ends; ++i) free(shorter[i]);
  return error;
}

#define LARGE_int(name, function, form)
#define LARGE_MpiCount(name, function, form)                                                      \
  static int name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, \
                  word k) {                                                                       \
    const word arguments[kMostArguments] = {a, b, c, d, e, f, g, h, i, j, k};                     \
    return call_int_form(SUMAC_CALL_##name, of_##function, form, arguments);                      \
  }
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, type) LARGE_##type(name, function, form)
#include "interpose/calls.def"
#undef SUMAC_CALL
#undef LARGE_MpiCount

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
#define LARGE_MpiCount(name, function, form) [SUMAC_CALL_##name] = (void*)name,
  static void* const forms[SUMAC_NUM_CALLS] = {
#define SUMAC_CALL(name)
#define SUMAC_COLLECTIVE(name, function, form, type) LARGE_##type(name, function, form)
#include "interpose/calls.def"
#undef SUMAC_CALL
      [SUMAC_CALL_Pack_c] = (void*)pack,
      [SUMAC_CALL_Unpack_c] = (void*)unpack,
  };
  if (forms[call] == NULL) return NULL;
  plain_forms[call] = find_plain_form(call);
  return real[plain_forms[call]] != NULL ? forms[call] : NULL;
}

// SPDX-License-Identifier: BSD-3-Clause
// MPI_X_c over MPI_X, for an MPI without the large-count forms (Open MPI up to 5). mpi4py prefers
// MPI_X_c wherever the name exists, and Sumac's exports make it exist.
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/stub/internal.h"

// A handle, pointer or int, of any MPI. On x86-64 and aarch64 Linux each takes one register or one
// 8-byte place on the stack, and a callee that wants an int reads the lower half.
typedef intptr_t word;
typedef int (*function5)(word, word, word, word, word);
typedef int (*function6)(word, word, word, word, word, word);
typedef int (*function7)(word, word, word, word, word, word, word);
typedef int (*function8)(word, word, word, word, word, word, word, word);
typedef int (*function9)(word, word, word, word, word, word, word, word, word);

enum { kMpiErrCount = 2 };  // the same error class in every MPI family

// The int form of a call, or NULL (with a warning) when `count` is beyond an int.
static void* int_form(int call, int64_t count) {
  if (count >= INT_MIN && count <= INT_MAX) return stub_native(call, NULL);
  stub_warn("large-count", "%s_c with a count of %lld, but the counts of this MPI end at %d",
            stub_call_names[call], (long long)count, INT_MAX);
  return NULL;
}

static int reduce(word send, word receive, int64_t count, word type, word op, word root,
                  word comm) {
  const function7 mpi = (function7)int_form(SUMAC_CALL_Reduce, count);
  return mpi != NULL ? mpi(send, receive, count, type, op, root, comm) : kMpiErrCount;
}

static int allreduce(word send, word receive, int64_t count, word type, word op, word comm) {
  const function6 mpi = (function6)int_form(SUMAC_CALL_Allreduce, count);
  return mpi != NULL ? mpi(send, receive, count, type, op, comm) : kMpiErrCount;
}

static int bcast(word buffer, int64_t count, word type, word root, word comm) {
  const function5 mpi = (function5)int_form(SUMAC_CALL_Bcast, count);
  return mpi != NULL ? mpi(buffer, count, type, root, comm) : kMpiErrCount;
}

static int ireduce(word send, word receive, int64_t count, word type, word op, word root, word comm,
                   word request) {
  const function8 mpi = (function8)int_form(SUMAC_CALL_Ireduce, count);
  return mpi != NULL ? mpi(send, receive, count, type, op, root, comm, request) : kMpiErrCount;
}

static int iallreduce(word send, word receive, int64_t count, word type, word op, word comm,
                      word request) {
  const function7 mpi = (function7)int_form(SUMAC_CALL_Iallreduce, count);
  return mpi != NULL ? mpi(send, receive, count, type, op, comm, request) : kMpiErrCount;
}

static int ibcast(word buffer, int64_t count, word type, word root, word comm, word request) {
  const function6 mpi = (function6)int_form(SUMAC_CALL_Ibcast, count);
  return mpi != NULL ? mpi(buffer, count, type, root, comm, request) : kMpiErrCount;
}

static int reduce_local(word in, word inout, int64_t count, word type, word op) {
  const function5 mpi = (function5)int_form(SUMAC_CALL_Reduce_local, count);
  return mpi != NULL ? mpi(in, inout, count, type, op) : kMpiErrCount;
}

static int reduce_init(word send, word receive, int64_t count, word type, word op, word root,
                       word comm, word info, word request) {
  const function9 mpi = (function9)int_form(SUMAC_CALL_Reduce_init, count);
  return mpi != NULL ? mpi(send, receive, count, type, op, root, comm, info, request)
                     : kMpiErrCount;
}

static int allreduce_init(word send, word receive, int64_t count, word type, word op, word comm,
                          word info, word request) {
  const function8 mpi = (function8)int_form(SUMAC_CALL_Allreduce_init, count);
  return mpi != NULL ? mpi(send, receive, count, type, op, comm, info, request) : kMpiErrCount;
}

static int bcast_init(word buffer, int64_t count, word type, word root, word comm, word info,
                      word request) {
  const function7 mpi = (function7)int_form(SUMAC_CALL_Bcast_init, count);
  return mpi != NULL ? mpi(buffer, count, type, root, comm, info, request) : kMpiErrCount;
}

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
  static const struct {
    int large, plain;
    void* function;
  } forms[] = {
      {SUMAC_CALL_Reduce_c, SUMAC_CALL_Reduce, (void*)reduce},
      {SUMAC_CALL_Allreduce_c, SUMAC_CALL_Allreduce, (void*)allreduce},
      {SUMAC_CALL_Bcast_c, SUMAC_CALL_Bcast, (void*)bcast},
      {SUMAC_CALL_Ireduce_c, SUMAC_CALL_Ireduce, (void*)ireduce},
      {SUMAC_CALL_Iallreduce_c, SUMAC_CALL_Iallreduce, (void*)iallreduce},
      {SUMAC_CALL_Ibcast_c, SUMAC_CALL_Ibcast, (void*)ibcast},
      {SUMAC_CALL_Reduce_local_c, SUMAC_CALL_Reduce_local, (void*)reduce_local},
      {SUMAC_CALL_Pack_c, SUMAC_CALL_Pack, (void*)pack},
      {SUMAC_CALL_Unpack_c, SUMAC_CALL_Unpack, (void*)unpack},
      {SUMAC_CALL_Reduce_init_c, SUMAC_CALL_Reduce_init, (void*)reduce_init},
      {SUMAC_CALL_Allreduce_init_c, SUMAC_CALL_Allreduce_init, (void*)allreduce_init},
      {SUMAC_CALL_Bcast_init_c, SUMAC_CALL_Bcast_init, (void*)bcast_init},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
    if (forms[i].large == call && real[forms[i].plain] != NULL) return forms[i].function;
  }
  return NULL;
}

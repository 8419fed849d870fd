// SPDX-License-Identifier: BSD-3-Clause
// A library between Sumac and the MPI, which Sumac takes for the MPI (stub/find_mpi.c): some
// collectives on 1000 ints give wrong results. Rank 0 changes one element of what it gives, in
// every fifth of its calls of a function, so that the results of SUMAC_CHECK=results differ then.
// check_results.cc makes the calls.
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 1000, kOneIn = 5, kWhich = 17 };

// Of the MPI, known by a function that Sumac does not intercept: the next library may be Sumac.
static void* real(const char* name) {
  Dl_info info;
  if (dladdr((void*)PMPI_Comm_rank, &info) == 0) abort();
  return dlsym(dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD), name);
}

// By this symbol Sumac finds the MPI.
int PMPI_Get_version(int* version, int* subversion) {
  int (*below)(int*, int*) = (int (*)(int*, int*))real("PMPI_Get_version");
  return below(version, subversion);
}

static int lies(int* calls, int count, MPI_Datatype type) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0 && count == kCount && type == MPI_INT && ++*calls % kOneIn == 0;
}

// A changed copy, which is never freed: an operation under way may read it.
static const void* changed(const void* data, int count) {
  int* copy = malloc((size_t)count * sizeof(int));
  memcpy(copy, data, (size_t)count * sizeof(int));
  copy[kWhich] += 1000;
  return copy;
}

#define FORWARD(name, parameters, arguments)                           \
  int PMPI_##name parameters {                                         \
    static int calls;                                                  \
    static int(*below) parameters;                                     \
    if (below == NULL) below = (int(*) parameters)real("PMPI_" #name); \
    if (lies(&calls, count, type)) send = changed(send, ELEMENTS);     \
    return below arguments;                                            \
  }

#define ELEMENTS count
FORWARD(Allreduce,
        (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (send, receive, count, type, op, comm))
FORWARD(Iallreduce,
        (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         MPI_Request* request),
        (send, receive, count, type, op, comm, request))
FORWARD(Reduce,
        (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm),
        (send, receive, count, type, op, root, comm))
FORWARD(Ireduce,
        (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
         MPI_Comm comm, MPI_Request* request),
        (send, receive, count, type, op, root, comm, request))
FORWARD(Allgather,
        (const void* send, int count, MPI_Datatype type, void* receive, int received,
         MPI_Datatype as, MPI_Comm comm),
        (send, count, type, receive, received, as, comm))
FORWARD(Iallgather,
        (const void* send, int count, MPI_Datatype type, void* receive, int received,
         MPI_Datatype as, MPI_Comm comm, MPI_Request* request),
        (send, count, type, receive, received, as, comm, request))
#undef ELEMENTS
static int ranks_of(MPI_Comm comm) {
  int ranks = 1;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}
#define ELEMENTS count* ranks_of(comm)
FORWARD(Alltoall,
        (const void* send, int count, MPI_Datatype type, void* receive, int received,
         MPI_Datatype as, MPI_Comm comm),
        (send, count, type, receive, received, as, comm))
FORWARD(Ialltoall,
        (const void* send, int count, MPI_Datatype type, void* receive, int received,
         MPI_Datatype as, MPI_Comm comm, MPI_Request* request),
        (send, count, type, receive, received, as, comm, request))
FORWARD(Reduce_scatter_block,
        (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (send, receive, count, type, op, comm))
FORWARD(Ireduce_scatter_block,
        (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         MPI_Request* request),
        (send, receive, count, type, op, comm, request))

// The root's own buffer: that of the check.
int PMPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static int calls;
  int (*below)(void*, int, MPI_Datatype, int, MPI_Comm) =
      (int (*)(void*, int, MPI_Datatype, int, MPI_Comm))real("PMPI_Bcast");
  if (lies(&calls, count, type)) ((int*)buffer)[kWhich] += 1000;
  return below(buffer, count, type, root, comm);
}

int PMPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                MPI_Request* request) {
  static int calls;
  int (*below)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*) =
      (int (*)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*))real("PMPI_Ibcast");
  if (lies(&calls, count, type)) ((int*)buffer)[kWhich] += 1000;
  return below(buffer, count, type, root, comm, request);
}

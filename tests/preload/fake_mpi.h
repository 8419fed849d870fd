// SPDX-License-Identifier: BSD-3-Clause
// The functions of fake_mpi.c. Every argument is one machine word, so that a test can detect lost
// bits.
#pragma once

#include <stdint.h>

typedef intptr_t word;

// The arguments of the last call, and the number of calls.
extern word fake_arguments[9];
extern int fake_calls;

#define FAKE_RESULT 77

int MPI_Get_version(int* version, int* subversion);
int MPI_Barrier(word);
int MPI_Bcast(word, word, word, word, word);
int MPI_Allreduce(word, word, word, word, word, word);
int MPI_Reduce(word, word, word, word, word, word, word);
int MPI_Ireduce(word, word, word, word, word, word, word, word);
int MPI_Reduce_init(word, word, word, word, word, word, word, word, word);
int PMPI_Barrier(word);
int PMPI_Bcast(word, word, word, word, word);
int PMPI_Allreduce(word, word, word, word, word, word);
int PMPI_Reduce(word, word, word, word, word, word, word);
int PMPI_Ireduce(word, word, word, word, word, word, word, word);
int PMPI_Reduce_init(word, word, word, word, word, word, word, word, word);
int PMPI_Pack(word, int, word, word, int, int*, word);
int PMPIX_Barrier_init(word, word, word);
